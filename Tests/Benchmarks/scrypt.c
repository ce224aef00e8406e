// scrypt SECONDS: prints the scrypt hashes per second of OpenSSL on one core, with the parameters for passwords (N = 2^17, r = 8, p = 1).
// This is the limit for password sign-ins.
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count != 2) return 64;
    unsigned char salt[16] = {0}, hash[32];
    double begin = now(), seconds = atof(arguments[1]);
    long hashes = 0;
    while (now() - begin < seconds) {
        if (EVP_PBE_scrypt("correct Horse 9", 15, salt, sizeof salt, 1 << 17, 8, 1, 256 << 20, hash, sizeof hash) != 1) return 1;
        hashes++;
    }
    printf("%.3f\n", hashes / (now() - begin));
    return 0;
}
