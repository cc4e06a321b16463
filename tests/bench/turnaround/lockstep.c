/* Time that passes with the controller's states alone, for counting: loaded before a program, it makes that program's work
 * the same however slow a tracer is and whatever else the machine does. States are read one by one, and each brings its
 * 2 ms; a text that is written brings 50 us, and a wait that nothing ended what it was to take. Dates are left alone. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STATE = 1220, PERIOD = 2000000, ANSWER = 50000, SECOND = 1000000000, DESCRIPTORS = 1024 };
/* Texts before those that count; those that count; and those of them in which sleeping and writing are marked, too. */
enum { BEFORE = 250, COUNTED = 500, MARKED = 100 };
/* A wait that states do not end by then is over. */
static const struct timespec LONG = { .tv_nsec = 200000000 };

static atomic_llong now = 1000LL * SECOND;
static long long began, bytes;
static long texts;
/* -1 where it is not known yet, whether a descriptor is the connection that carries states. */
static signed char carries[DESCRIPTORS];

/* What a tracer looks for by name. */
#define MARK(name) __attribute__((noinline)) void name(void) { __asm__ volatile(""); }
MARK(lockstep_begins)
MARK(lockstep_ends)
MARK(lockstep_sleeps)
MARK(lockstep_writes)

static int carries_states(int fd)
{
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;

    if (fd < 0 || fd >= DESCRIPTORS)
        return 0;
    if (!carries[fd]) {
        const char *port = getenv("LOCKSTEP_PORT");
        int known = port && !getpeername(fd, (struct sockaddr *)&peer, &length);
        carries[fd] = known && ntohs(peer.sin_port) == atoi(port) ? 1 : -1;
    }
    return carries[fd] > 0;
}

int clock_gettime(clockid_t clock, struct timespec *into)
{
    long long at = atomic_load(&now);

    if (clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, into);
    into->tv_sec = at / SECOND;
    into->tv_nsec = at % SECOND;
    return 0;
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *mask)
{
    int looks = limit && !limit->tv_sec && !limit->tv_nsec;
    /* The kernel writes what is left into its argument. */
    struct timespec wait = looks ? *limit : LONG;
    int ready;

    if (texts > BEFORE && texts <= BEFORE + MARKED)
        lockstep_sleeps();
    ready = (int)syscall(SYS_ppoll, fds, count, limit ? &wait : NULL, mask, 8);
    if (!ready && limit)
        atomic_fetch_add(&now, limit->tv_sec * (long long)SECOND + limit->tv_nsec);
    return ready;
}

ssize_t recv(int fd, void *into, size_t room, int flags)
{
    size_t one = STATE - bytes % STATE;
    int state = carries_states(fd);
    ssize_t count = syscall(SYS_recvfrom, fd, into, state && one < room ? one : room, flags, NULL, NULL);

    if (count > 0 && state) {
        if (!began)
            began = atomic_load(&now);
        bytes += count;
        if (began + bytes / STATE * PERIOD > atomic_load(&now))
            atomic_store(&now, began + bytes / STATE * PERIOD);
    }
    return count;
}

ssize_t send(int fd, const void *from, size_t count, int flags)
{
    if (carries_states(fd)) {
        texts++;
        if (texts == BEFORE)
            lockstep_begins();
        if (texts == BEFORE + COUNTED)
            lockstep_ends();
        if (texts > BEFORE && texts <= BEFORE + MARKED)
            lockstep_writes();
        atomic_fetch_add(&now, ANSWER);
    }
    return syscall(SYS_sendto, fd, from, count, flags, NULL, 0);
}
