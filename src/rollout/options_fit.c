/* Records whether the options match any session of the run: see options_fit.h. */
#include "rollout/options_fit.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

#define WAIT_MS 2 /* interval between two checks of sessions being opened */

struct options_fit {
	pthread_mutex_t lock;
	size_t opening;
	bool fit;
	uint64_t offer; /* of the first session that matched */
};

struct options_fit *options_fit_new(void)
{
	struct options_fit *f = mem_new(sizeof(*f));

	pthread_mutex_init(&f->lock, NULL);
	return f;
}

void options_fit_free(struct options_fit *f)
{
	if (!f)
		return;
	pthread_mutex_destroy(&f->lock);
	free(f);
}

void options_fit_begin(struct options_fit *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->opening++;
	pthread_mutex_unlock(&f->lock);
}

void options_fit_end(struct options_fit *f, bool fits, uint64_t offer)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->opening--;
	if (fits && !f->fit) {
		f->fit = true;
		f->offer = offer;
	}
	pthread_mutex_unlock(&f->lock);
}

int options_fit_another(struct options_fit *f, uint64_t offer, struct io *io, bool *another,
                        struct error *err)
{
	bool settled = !f;

	*another = false;
	while (!settled) {
		pthread_mutex_lock(&f->lock);
		*another = f->fit && f->offer != offer;
		settled = f->fit || !f->opening;
		pthread_mutex_unlock(&f->lock);
		if (!settled && io_wait(io, NULL, WAIT_MS, err))
			return -1;
	}
	return 0;
}
