"""RSA keys for the tests. A new key takes longer than most tests, so the tests of a process use the same few keys in turns."""

import itertools

from cryptography.hazmat.primitives.asymmetric import rsa

DIFFERENT = 8
_keys, _numbers = [], itertools.count()


def rsa_key():
    """Returns a key of 2048 bits. Eight successive calls return different keys."""
    number = next(_numbers)
    if number < DIFFERENT:
        _keys.append(rsa.generate_private_key(65537, 2048))
    return _keys[number % len(_keys)]
