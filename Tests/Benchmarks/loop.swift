// The least a Swift process can do: read a line, write it back. Spawning it is the limit for spawning Mintmark.
import Glibc

while let line = readLine() {
    print(line)
    fflush(nil)
}
