/* Makes reads and writes of files short, interrupted or failing, as SHIM says, and takes nameless files away. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static int is(const char *mode) {
    const char *shim = getenv("SHIM");
    return shim && strstr(shim, mode);
}

static size_t most(size_t wanted) {
    const char *text = getenv("SHIM_MOST");
    size_t limit = text ? strtoul(text, 0, 10) : 1;
    return is("short") && wanted > limit ? limit : wanted;
}

/* Every second call of a thread. */
static int interrupted(void) {
    static __thread unsigned calls;
    return is("interrupted") && ++calls % 2 == 0;
}

#define NEXT(name) \
    static __typeof__(name) *next; \
    if (!next) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name); \
    if (is("failing")) { errno = EIO; return -1; } \
    if (interrupted()) { errno = EINTR; return -1; }

ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
ssize_t pread64(int, void *, size_t, off64_t);

ssize_t read(int fd, void *bytes, size_t count) {
    NEXT(read)
    return next(fd, bytes, most(count));
}

ssize_t write(int fd, const void *bytes, size_t count) {
    NEXT(write)
    return next(fd, bytes, most(count));
}

ssize_t pread64(int fd, void *bytes, size_t count, off64_t at) {
    NEXT(pread64)
    return next(fd, bytes, most(count), at);
}

int open64(const char *path, int flags, ...) {
    static int (*next)(const char *, int, ...);
    if (!next) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    if (is("nameless") && (flags & O_TMPFILE) == O_TMPFILE) { errno = EOPNOTSUPP; return -1; }
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    return next(path, flags, mode);
}
