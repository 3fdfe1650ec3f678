#include "lib/stream/select.h"

/* One bracket expression at g (behind '['); *ret_len its length with ']', 0: not closed. */
static bool in_bracket(const char *g, size_t len, unsigned char c, size_t *ret_len)
{
	bool negate = len > 0 && (g[0] == '!' || g[0] == '^'), in = false;
	size_t i = negate;

	*ret_len = 0;
	for (bool first = true; i < len && (g[i] != ']' || first); first = false) {
		unsigned char from = (unsigned char)g[i++], to = from;
		if (i + 1 < len && g[i] == '-' && g[i + 1] != ']') {
			to = (unsigned char)g[i + 1];
			i += 2;
		}
		in = in || (c >= from && c <= to);
	}
	if (i < len)
		*ret_len = i + 1;
	return in != negate;
}

/* Goes back to the last star only, so that it takes at most length times length steps. */
bool hrr_glob(const char *g, size_t glob_len, const char *text, size_t len)
{
	size_t i = 0, k = 0, star = SIZE_MAX, star_k = 0;

	while (k < len) {
		if (i < glob_len && g[i] == '*') {
			star = i++;
			star_k = k;
			continue;
		}
		bool fits = false;
		size_t step = 1;
		if (i < glob_len) {
			char c = g[i];
			if (c == '[') {
				size_t n;
				fits = in_bracket(g + i + 1, glob_len - i - 1,
						  (unsigned char)text[k], &n);
				if (n == 0)
					fits = text[k] == '[';
				step = n + 1;
			} else if (c == '\\' && i + 1 < glob_len) {
				fits = g[i + 1] == text[k];
				step = 2;
			} else {
				fits = c == '?' || c == text[k];
			}
		}
		if (fits) {
			i += step;
			k++;
		} else if (star != SIZE_MAX) {
			i = star + 1;
			k = ++star_k;
		} else {
			return false;
		}
	}
	while (i < glob_len && g[i] == '*')
		i++;
	return i == glob_len;
}
