// Measures the limit for Tests/Benchmarks/clients: a caller that only writes prepared requests and counts line ends.
// pipe CALLS AT_ONCE METHOD PARAMS SETUP PROGRAM ARGUMENT…: sends the line SETUP and waits for its response. Then sends CALLS requests,
// AT_ONCE of them in flight at a time, and prints the duration in seconds.
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int from, to;
static char block[1 << 18];

static void spawn(char **command) {
    int input[2], output[2];
    if (pipe(input) || pipe(output)) err(1, "pipe");
    pid_t child = fork();
    if (child < 0) err(1, "fork");
    if (child == 0) {
        dup2(input[0], 0);
        dup2(output[1], 1);
        close(input[0]), close(input[1]), close(output[0]), close(output[1]);
        execv(command[0], command);
        err(127, "%s", command[0]);
    }
    close(input[0]), close(output[1]);
    to = input[1], from = output[0];
}

static void put(const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(to, bytes, count);
        if (written < 0) err(1, "write");
        bytes += written, count -= written;
    }
}

// Reads a block and returns the number of complete lines. Exits if a response is an error.
static long answers(void) {
    ssize_t count = read(from, block, sizeof block - 1);
    if (count <= 0) errx(1, "the process ended");
    block[count] = 0;
    if (strstr(block, "\"error\":{")) errx(1, "%.300s", block);
    long found = 0;
    for (char *at = block; (at = memchr(at, '\n', block + count - at)); at++) found++;
    return found;
}

int main(int count, char **given) {
    if (count < 7) errx(64, "pipe CALLS AT_ONCE METHOD PARAMS SETUP PROGRAM ARGUMENT...");
    long calls = atol(given[1]), at_once = atol(given[2]);
    size_t longest = strlen(given[3]) + strlen(given[4]) + 100;
    char *lines = malloc(calls * longest);
    size_t *ends = malloc((calls + 1) * sizeof *ends);
    if (!lines || !ends) errx(1, "too many calls");
    ends[0] = 0;
    for (long i = 0; i < calls; i++) {
        char *line = lines + ends[i];
        ends[i + 1] = ends[i] + snprintf(line, longest, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"%s\",\"params\":%s}\n", i + 1, given[3], given[4]);
    }

    signal(SIGPIPE, SIG_IGN);
    spawn(given + 6);
    put(given[5], strlen(given[5]));
    put("\n", 1);
    for (long got = 0; got < 1;) got += answers();

    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    long sent = 0;
    for (long answered = 0; answered < calls; answered += answers()) {
        long next = answered + at_once < calls ? answered + at_once : calls;
        put(lines + ends[sent], ends[next] - ends[sent]);
        sent = next;
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.6f\n", ended.tv_sec - began.tv_sec + (ended.tv_nsec - began.tv_nsec) / 1e9);
    close(to);
    wait(NULL);
}
