// A minimal Swift process that reads lines and writes them back. Its spawn time is the lower limit for Mintmark's
// spawn time.
import Glibc

while let line = readLine() {
    print(line)
    fflush(nil)
}
