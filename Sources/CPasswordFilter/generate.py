"""Writes filter.bin, the filter of common passwords in the program, from a list with one password per line.

    python3 Sources/CPasswordFilter/generate.py [--check] [LIST]

The list defaults to common-passwords.txt.gz in this folder: 100,000 passwords, of which about 37,000 are from the lists of the Python
packages zxcvbn (MIT License) and Django (BSD License); the others are common words, names and years with the usual changes.

The filter is an xor filter (Graf and Lemire, "Xor Filters", ACM Journal of Experimental Algorithmics 25, 2020) with fingerprints of 24
bits: every listed password is found, and about 1 of 17 million others. Each password is in it in lowercase. Format: the seed (1 byte), the
length of a third of the table (4 bytes, most significant first), and the table with 3 bytes per place. SHA-256 of the seed and the password
gives three places, one in each third, and the fingerprint. The same list always gives the same bytes.
"""

import gzip
import hashlib
import os
import sys
import unicodedata

FOLDER = os.path.dirname(os.path.abspath(__file__))


def folded(password):
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", password).lower())


def places(seed, password, third):
    digest = hashlib.sha256(bytes([seed]) + password.encode()).digest()
    numbers = [int.from_bytes(digest[at:at + 4], "big") for at in (0, 4, 8, 12)]
    return [index * third + numbers[index] % third for index in range(3)], numbers[3] & 0xFFFFFF


def table(passwords, seed, third):
    """Returns the places of the filter, or None if this seed gives none."""
    found = [places(seed, password, third) for password in passwords]
    counts, sums = [0] * (3 * third), [0] * (3 * third)
    for number, (spots, _) in enumerate(found):
        for spot in spots:
            counts[spot] += 1
            sums[spot] ^= number
    queue = [spot for spot, count in enumerate(counts) if count == 1]
    order = []
    while queue:
        spot = queue.pop()
        if counts[spot] != 1:
            continue
        number = sums[spot]
        order.append((number, spot))
        for other in found[number][0]:
            counts[other] -= 1
            sums[other] ^= number
            if counts[other] == 1:
                queue.append(other)
    if len(order) < len(passwords):
        return None
    values = [0] * (3 * third)
    for number, spot in reversed(order):
        spots, value = found[number]
        for other in spots:
            if other != spot:
                value ^= values[other]
        values[spot] = value
    return values


def contains(data, password):
    third = int.from_bytes(data[1:5], "big")
    spots, fingerprint = places(data[0], folded(password), third)
    for spot in spots:
        fingerprint ^= int.from_bytes(data[5 + 3 * spot:8 + 3 * spot], "big")
    return fingerprint == 0


def lines(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if line.rstrip("\n")]


def made(listed):
    passwords = sorted({folded(password) for password in listed})
    third = int(len(passwords) * 1.23 / 3) + 11
    for seed in range(256):
        values = table(passwords, seed, third)
        if values:
            return bytes([seed]) + third.to_bytes(4, "big") + b"".join(value.to_bytes(3, "big") for value in values)
    raise SystemExit("no seed gives a filter")


def main():
    arguments = [each for each in sys.argv[1:] if each != "--check"]
    listed = lines(arguments[0] if arguments else os.path.join(FOLDER, "common-passwords.txt.gz"))
    target, data = os.path.join(FOLDER, "filter.bin"), made(listed)
    missing = [password for password in listed if not contains(data, password)]
    if missing:
        raise SystemExit(f"{len(missing)} passwords are not found, such as {missing[0]}")
    if "--check" in sys.argv:
        with open(target, "rb") as file:
            if file.read() != data:
                raise SystemExit("filter.bin is out of date: run python3 Sources/CPasswordFilter/generate.py")
    else:
        with open(target, "wb") as file:
            file.write(data)
    print(f"{len(listed)} passwords, {len(data)} bytes")


if __name__ == "__main__":
    main()
