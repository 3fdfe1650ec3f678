# Assembly of a gfx90a code object with n kernels, for figures: kernel kN writes N.
BEGIN {
	print ".text\n.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\""
	for (i = 1; i <= n; i++) {
		k = "k" i
		printf ".protected %s\n.globl %s\n.p2align 8\n.type %s,@function\n%s:\n", k, k, k, k
		print "s_load_dwordx2 s[0:1], s[4:5], 0x0\nv_mov_b32_e32 v0, 0\nv_mov_b32_e32 v1, " i
		print "s_waitcnt lgkmcnt(0)\nglobal_store_dword v0, v1, s[0:1]\ns_endpgm"
		printf ".L%d:\n.size %s, .L%d-%s\n.section .rodata,\"a\"\n.p2align 6\n.amdhsa_kernel %s\n", i, k, i, k, k
		print ".amdhsa_kernarg_size 8\n.amdhsa_user_sgpr_private_segment_buffer 1\n.amdhsa_user_sgpr_kernarg_segment_ptr 1"
		print ".amdhsa_next_free_vgpr 2\n.amdhsa_next_free_sgpr 6\n.amdhsa_accum_offset 4\n.amdhsa_reserve_vcc 0"
		print ".amdhsa_reserve_flat_scratch 0\n.end_amdhsa_kernel\n.text"
	}
	print ".amdgpu_metadata\n---\namdhsa.kernels:"
	for (i = 1; i <= n; i++) {
		print "  - .agpr_count: 0\n    .args:\n      - .address_space: global\n        .offset: 0\n        .size: 8"
		print "        .value_kind: global_buffer\n    .group_segment_fixed_size: 0\n    .kernarg_segment_align: 8"
		print "    .kernarg_segment_size: 8\n    .max_flat_workgroup_size: 1024\n    .name: k" i
		print "    .private_segment_fixed_size: 0\n    .sgpr_count: 6\n    .symbol: k" i ".kd\n    .vgpr_count: 2\n    .wavefront_size: 64"
	}
	print "amdhsa.target: amdgcn-amd-amdhsa--gfx90a\namdhsa.version:\n  - 1\n  - 1\n...\n.end_amdgpu_metadata"
}
