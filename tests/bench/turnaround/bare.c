/* The least a program can do: read one state, write one command. What the co-controller is measured against. With a second
 * argument it waits as the co-controller does, for a robot, a second connection, other threads and a time at once. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { STATE = 1220 };

int main(int argc, char **argv)
{
    static const char command[] = "speedj([0.01,0.0,0.0,0.0,0.0,0.0],1.0,0.02)\n";
    struct sockaddr_in robot = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    struct pollfd waits[3] = { { .events = POLLIN }, { .events = POLLIN }, { .events = POLLRDHUP } };
    char state[STATE];
    int yes = 1, s = socket(AF_INET, SOCK_STREAM, 0);

    if (argc < 2 || s < 0)
        return 2;
    robot.sin_port = htons((unsigned short)atoi(argv[1]));
    if (connect(s, (struct sockaddr *)&robot, sizeof robot) || setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes))
        return 1;
    waits[0].fd = s;
    waits[1].fd = eventfd(0, 0);
    waits[2].fd = socket(AF_INET, SOCK_DGRAM, 0);
    for (;;) {
        struct timespec limit = { .tv_nsec = 5000000 };
        while (argc > 2 && ppoll(waits, 3, &limit, NULL) <= 0)
            ;
        for (ssize_t have = 0, n; have < STATE; have += n)
            if ((n = read(s, state + have, (size_t)(STATE - have))) <= 0)
                return 0;
        if (write(s, command, sizeof command - 1) != (ssize_t)(sizeof command - 1))
            return 0;
    }
}
