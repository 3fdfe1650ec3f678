#!/usr/bin/env python3
"""Writes the snapshots of this folder: make.py [DIR].

A toy allocator keeps segments and blocks and writes down what PyTorch's would. NAME.live is
the truth the tests compare with, kept by the toy itself: after "T US", what is live when that
microsecond is over, since "T -" what was live before the history that is left.
"""
import pickle
import random
import sys

OUT = sys.argv[1] if len(sys.argv) > 1 else "."
START = 1795982130000000  # us since 1970


def up(n, to=512):
    return (n + to - 1) // to * to


class Toy:
    def __init__(self, seed, devices=1, expandable=False):
        self.r = random.Random(seed)
        self.now = START
        self.expandable = expandable
        self.segments = [dict() for _ in range(devices)]  # base -> size
        self.blocks = [dict() for _ in range(devices)]  # base -> [requested, rounded, pending]
        self.traces = [[] for _ in range(devices)]
        self.states = []  # (us, state)
        self.next = [0x7E0000000000 + (d << 36) for d in range(devices)]
        self.state_at_start = None

    def tick(self, most=3):
        self.now += self.r.choice([0, 0, 1, most])

    def state(self):
        s = []
        for d in range(len(self.traces)):
            for b, n in self.runs(d):
                s.append(("segment", d, b, n))
            for b, x in self.blocks[d].items():
                if not x[2]:
                    s.append(("block", d, b, x[0]))
        return sorted(s)

    def runs(self, d):
        if not self.expandable:
            return sorted(self.segments[d].items())
        out = []
        for b, n in sorted(self.segments[d].items()):
            if out and out[-1][0] + out[-1][1] == b:
                out[-1] = (out[-1][0], out[-1][1] + n)
            else:
                out.append((b, n))
        return out

    def event(self, d, action, addr, size, frames=True):
        e = {"action": action, "addr": addr, "size": size, "stream": 0, "time_us": self.now,
             "compile_context": "N/A", "user_metadata": ""}
        if frames and self.r.random() < 0.3:
            e["frames"] = self.frames()
        self.traces[d].append(e)
        self.states.append((self.now, self.state()))

    def frames(self):
        if not hasattr(self, "some"):
            self.some = [[{"name": "forward%d" % i, "filename": "app/net%d.py" % i, "line": 10 + i},
                          {"name": "<module>", "filename": "app/main.py", "line": 33}]
                         for i in range(3)]
        return self.r.choice(self.some)

    def room(self, d, size):
        for b, n in self.runs(d):
            at = b
            for bb, x in sorted(self.blocks[d].items()):
                if not b <= bb < b + n:
                    continue
                if bb - at >= size:
                    break
                at = bb + x[1]
            if b + n - at >= size:
                return at
        return None

    def alloc(self, d=0, most=20000):
        req = self.r.choice([1, 100, 512, 700, self.r.randrange(1, most)])
        size = up(req)
        at = self.room(d, size)
        while at is None:
            if self.expandable:
                step = 8192
                if self.segments[d] and self.r.random() < 0.9:
                    holes = [b + n for b, n in self.runs(d)]
                    base = self.r.choice(holes)
                else:
                    base = self.next[d] + self.r.randrange(1, 20) * step
                if any(b <= base < b + n for b, n in self.segments[d].items()):
                    continue
                self.segments[d][base] = step
                self.next[d] = max(self.next[d], base + step)
                self.event(d, "segment_map", base, step)
            else:
                n = up(max(size, 16384), 8192)
                base = self.next[d]
                # freed ranges come back
                self.next[d] += n + self.r.choice([0, 8192])
                self.segments[d][base] = n
                self.event(d, "segment_alloc", base, n)
            at = self.room(d, size)
        self.blocks[d][at] = [req, size, False]
        self.event(d, "alloc", at, req)

    def free(self, d=0, late=0.2):
        live = [b for b, x in self.blocks[d].items() if not x[2]]
        if not live:
            return
        b = self.r.choice(sorted(live))
        x = self.blocks[d][b]
        x[2] = True
        self.event(d, "free_requested", b, x[0])
        if self.r.random() >= late:
            self.complete(d, b)

    def complete(self, d, b=None):
        if b is None:
            pending = sorted(b for b, x in self.blocks[d].items() if x[2])
            if not pending:
                return
            b = self.r.choice(pending)
        req = self.blocks[d].pop(b)[0]
        self.event(d, "free_completed", b, req)

    def trim(self, d=0):
        for b, n in sorted(self.segments[d].items()):
            if any(bb < b + n and b < bb + x[1] for bb, x in self.blocks[d].items()):
                continue
            del self.segments[d][b]
            if not self.expandable and self.r.random() < 0.5:
                self.next[d] = min(self.next[d], b)
                if any(s >= b for s in self.segments[d]):
                    self.next[d] = max(s + m for s, m in self.segments[d].items())
            self.event(d, "segment_unmap" if self.expandable else "segment_free", b, n)
            return

    def run(self, n):
        for _ in range(n):
            d = self.r.randrange(len(self.traces))
            self.r.choice([self.alloc, self.alloc, self.free, self.free, self.complete, self.trim])(d)
            self.tick()
            if self.r.random() < 0.02:
                self.traces[d].append({"action": "snapshot", "addr": 0, "size": 0, "stream": 0,
                                       "time_us": self.now})

    def forget(self):
        """What was until now is no part of the history."""
        self.traces = [[] for _ in self.traces]
        self.states = []
        self.state_at_start = self.state()
        self.now += 1

    def snapshot(self):
        segs = []
        for d in range(len(self.traces)):
            for b, n in self.runs(d):
                blocks, at = [], b
                for bb, x in sorted(self.blocks[d].items()):
                    if not b <= bb < b + n:
                        continue
                    if bb > at:
                        blocks.append(self.hole(at, bb - at))
                    blocks.append({"address": bb, "size": x[1], "requested_size": x[0],
                                   "state": "active_pending_free" if x[2] else "active_allocated",
                                   "frames": self.frames()})
                    at = bb + x[1]
                if at < b + n:
                    blocks.append(self.hole(at, b + n - at))
                segs.append({"device": d, "address": b, "total_size": n, "stream": 0,
                             "segment_type": "small", "segment_pool_id": (0, 0),
                             "is_expandable": self.expandable, "frames": [], "blocks": blocks})
        return {"segments": segs, "device_traces": self.traces,
                "allocator_settings": {"garbage_collection_threshold": 0.0, "x": -1, "y": None},
                "external_annotations": []}

    @staticmethod
    def hole(at, n):
        return {"address": at, "size": n, "requested_size": 77, "state": "inactive", "frames": []}

    def save(self, name, protocol):
        with open("%s/%s.pickle" % (OUT, name), "wb") as f:
            pickle.dump(self.snapshot(), f, protocol)
        with open("%s/%s.live" % (OUT, name), "w") as f:
            if self.state_at_start is not None:
                put(f, "-", self.state_at_start)
            last = {}
            for us, s in self.states:
                last[us] = s
            for us in list(last)[:: max(1, len(last) // 12)] + [self.now]:
                if us in last:
                    put(f, us, last[us])


def put(f, us, state):
    f.write("T %s\n" % us)
    for kind, d, b, n in state:
        f.write("%s %d 0x%x %d\n" % (kind, d, b, n))


def one(name, protocol, seed, n, before=0, **kw):
    t = Toy(seed, **kw)
    t.run(before)
    t.forget()
    t.run(n)
    t.save(name, protocol)


one("plain", 4, 1, 30)
one("before", 5, 2, 40, before=40)
one("two", 2, 3, 60, before=20, devices=2)
one("grows", 3, 4, 60, before=40, expandable=True)
one("grows2", 4, 5, 50, devices=2, expandable=True)


def save(name, obj, protocol=4):
    with open("%s/%s.pickle" % (OUT, name), "wb") as f:
        pickle.dump(obj, f, protocol)


# By hand. One microsecond: a free whose place is taken again, one whose is not.
def e(action, addr, size, us):
    return {"action": action, "addr": addr, "size": size, "stream": 0, "time_us": START + us}


def block(addr, size, state="active_allocated", requested=None):
    return {"address": addr, "size": size, "requested_size": requested or size, "state": state,
            "frames": []}


def segment(addr, size, blocks, **kw):
    return dict({"device": 0, "address": addr, "total_size": size, "stream": 0,
                 "segment_type": "large", "is_expandable": False, "frames": [], "blocks": blocks},
                **kw)


save("tick", {"segments": [segment(0x1000, 0x1000, [block(0x1000, 512), block(0x1200, 512, "inactive"),
                                                    block(0x1400, 512)])],
              "device_traces": [[
                  e("segment_alloc", 0x1000, 0x1000, 5), e("alloc", 0x1000, 512, 5),
                  e("alloc", 0x1200, 512, 5),
                  e("free_requested", 0x1000, 512, 7), e("free_completed", 0x1000, 512, 7),
                  e("free_requested", 0x1200, 512, 7), e("free_completed", 0x1200, 512, 7),
                  e("alloc", 0x1000, 512, 7), e("alloc", 0x1400, 512, 7)]]})
# A clock set back, an event of no known kind, one of no size, a free of nothing, a leftover.
save("odd", {"segments": [segment(0x1000, 0x1000, [block(0x1000, 512), block(0x1800, 512)])],
             "device_traces": [[
                 e("alloc", 0x1000, 512, 9), e("free_requested", 0x1200, 64, 8),
                 e("free_requested", 0x1200, 64, 9), e("fly", 0, 0, 9), e("alloc", 0x1400, 0, 9),
                 e("alloc", 0x1600, 64, 10)]]})
# A list alone, as torch.cuda.memory_snapshot() returns it, with blocks that have no address.
save("list", [dict(segment(0x1000, 0x800, []), blocks=[
    {"size": 512, "requested_size": 500, "state": "active_allocated"},
    {"size": 512, "state": "inactive"}, {"size": 1024, "state": "active_awaiting_free"}])], 2)
# Frames: one without a source, a very long one, a name that is not ASCII.
fr = [{"name": "??", "filename": "??", "line": 0}, {"name": "forwärd", "filename": "/a/b/net.py", "line": 7},
      {"name": "main", "filename": "main.py", "line": 1}]
save("frames", {"segments": [segment(0x1000, 0x1000, [
    dict(block(0x1000, 512), frames=fr),
    dict(block(0x1200, 512), frames=[{"name": "ä" * 400, "filename": "x.py", "line": 1}]),
    dict(block(0x1400, 512), frames=fr[1:] + [{"name": "y" * 500, "filename": "y.py", "line": 2}])])]})
save("past47", {"segments": [segment(0x1000, (1 << 47) + 1, [])]})
shared = segment(0x1000, 0x1000, [])
save("twice", {"segments": [shared, shared]})
save("object", {"segments": [], "x": random.Random})
save("bytes", {"segments": b"x"})
with open("%s/old.pickle" % OUT, "wb") as f:
    pickle.dump({"segments": []}, f, 1)
