/* Recognizes the expected keys of an object: see json_validate_known(). Private to src/json/. */
#ifndef ROLLDBG_JSON_SCAN_INTERNAL_H
#define ROLLDBG_JSON_SCAN_INTERNAL_H

#include "json/run.h"
#include "json/scan.h"

#define LEADS_TRIED 5 /* more than the number of consecutive keys that a line may omit */

/* Does the text at p begin with the lead? 16 bytes or more follow p. */
ALWAYS_INLINE bool has_lead(const unsigned char *p, const struct json_lead *lead)
{
#ifdef JSON_SSE2
	unsigned same = sse2_mask(_mm_cmpeq_epi8(sse2_load(p), sse2_load(lead->text)));
	unsigned all = (1u << lead->n) - 1;

	return (same & all) == all;
#else
	return memcmp(p, lead->text, lead->n) == 0;
#endif
}

/* Which of the next leads is at p? Returns its index plus 1, or 0. */
ALWAYS_INLINE unsigned lead_at(const unsigned char *p, const unsigned char *end,
                               const struct json_leads *leads, unsigned next)
{
	if (UNLIKELY((size_t)(end - p) < sizeof(leads->list->text))) {
		return 0;
	}
	for (unsigned i = next; i < leads->count && i < next + LEADS_TRIED; i++) {
		if (has_lead(p, &leads->list[i])) {
			return i + 1;
		}
	}
	return 0;
}

#endif
