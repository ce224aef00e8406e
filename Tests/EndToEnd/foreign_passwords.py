"""Password hashes as other systems create them, computed with hashlib and the cryptography package."""

import base64
import hashlib
import os

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

# The sample project of github.com/firebase/scrypt.
FIREBASE = {
    "algorithm": "firebaseScrypt", "memoryCost": 14, "rounds": 8, "saltSeparator": "Bw==",
    "signerKey": "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
}
SCRYPT = {"algorithm": "scrypt", "memoryCost": 12, "blockSize": 4, "parallelization": 2}
PBKDF2 = [{"algorithm": "pbkdf2Sha1", "rounds": 1000}, {"algorithm": "pbkdf2Sha256", "rounds": 2000}, {"algorithm": "pbkdf2Sha512", "rounds": 500}]
ALL = [FIREBASE, SCRYPT, *PBKDF2]


def derive(how, password, salt):
    """Returns the hash of a password."""
    password, algorithm = password.encode(), how["algorithm"]
    if algorithm == "scrypt":
        return hashlib.scrypt(password, salt=salt, n=1 << how["memoryCost"], r=how["blockSize"], p=how["parallelization"], dklen=48)
    if algorithm.startswith("pbkdf2"):
        return hashlib.pbkdf2_hmac(algorithm[6:].lower(), password, salt, how["rounds"])
    whole = salt + base64.b64decode(how["saltSeparator"])
    key = hashlib.scrypt(password, salt=whole, n=1 << how["memoryCost"], r=how["rounds"], p=1, dklen=64, maxmem=1 << 28)
    return Cipher(algorithms.AES(key[:32]), modes.CTR(bytes(16))).encryptor().update(base64.b64decode(how["signerKey"]))


def hashed(how, password, salt=None):
    """Returns the members of an account import that contain the hash and the salt."""
    salt = salt or os.urandom(12)
    return {"passwordHash": base64.b64encode(derive(how, password, salt)).decode(), "salt": base64.b64encode(salt).decode()}
