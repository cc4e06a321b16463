/* The least a program can do: read one state, write one command. What the co-controller is measured against. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

enum { STATE = 1220 };

int main(int argc, char **argv)
{
    static const char command[] = "speedj([0.01,0.0,0.0,0.0,0.0,0.0],1.0,0.02)\n";
    struct sockaddr_in robot = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    char state[STATE];
    int yes = 1, s = socket(AF_INET, SOCK_STREAM, 0);

    if (argc != 2 || s < 0)
        return 2;
    robot.sin_port = htons((unsigned short)atoi(argv[1]));
    if (connect(s, (struct sockaddr *)&robot, sizeof robot) || setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes))
        return 1;
    for (;;) {
        for (ssize_t have = 0, n; have < STATE; have += n)
            if ((n = read(s, state + have, (size_t)(STATE - have))) <= 0)
                return 0;
        if (write(s, command, sizeof command - 1) != (ssize_t)(sizeof command - 1))
            return 0;
    }
}
