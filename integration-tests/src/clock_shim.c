/* Preloaded into a program, it shifts the wall clock that the program sees: by as many seconds as the file named by
 * CLOCK_SHIM holds (a native int64, looked at anew with every call). The monotonic clocks stay as they are, and so do
 * waits until a time of the wall clock: those are shifted back. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>

static volatile int64_t *shift;

__attribute__((constructor)) static void open_shift(void) {
    const char *path = getenv("CLOCK_SHIM");
    int fd = path ? open(path, O_RDONLY) : -1;
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) abort();
    shift = at;
}

#define REAL(type, name) \
    static type real; \
    if (!real) real = (type)dlsym(RTLD_NEXT, name)

typedef int (*gettime_t)(clockid_t, struct timespec *);
typedef int (*cond_wait_t)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
typedef int (*cnd_wait_t)(cnd_t *, mtx_t *, const struct timespec *);

int clock_gettime(clockid_t id, struct timespec *ts) {
    REAL(gettime_t, "clock_gettime");
    int err = real(id, ts);
    if (!err && shift && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) ts->tv_sec += *shift;
    return err;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone) {
    (void)zone;
    struct timespec ts;
    int err = clock_gettime(CLOCK_REALTIME, &ts);
    tv->tv_sec = ts.tv_sec;
    tv->tv_usec = ts.tv_nsec / 1000;
    return err;
}

time_t time(time_t *into) {
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    if (into) *into = ts.tv_sec;
    return ts.tv_sec;
}

int timespec_get(struct timespec *ts, int base) {
    return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, ts) ? base : 0;
}

/* A monotonic clock counts from the start of the machine, so the two cannot be taken for each other. */
static struct timespec unshifted(const struct timespec *until) {
    struct timespec ts = *until;
    if (ts.tv_sec > 1000000000) ts.tv_sec -= *shift;
    return ts;
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
    REAL(cond_wait_t, "pthread_cond_timedwait");
    struct timespec ts = unshifted(until);
    return real(cond, mutex, &ts);
}

int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict until) {
    REAL(cnd_wait_t, "cnd_timedwait");
    struct timespec ts = unshifted(until);
    return real(cond, mutex, &ts);
}
