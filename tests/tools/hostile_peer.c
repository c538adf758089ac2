/* The misbehaving server of tests/hostile.h as a program, for command tests.

   hostile_peer TABLE..: prints "listening on 127.0.0.1:PORT" and then each line of its log,
   until it is killed. */
#include "hostile.h"

int main(int argc, char **argv)
{
	static struct hostile server;

	for (int i = 1; i < argc; i++)
		hostile_load(&server, argv[i]);
	server.echo = true;
	hostile_begin(&server);
	printf("listening on 127.0.0.1:%u\n", (unsigned)server.port);
	fflush(stdout);
	for (;;)
		poll(NULL, 0, -1);
}
