/* The baseline for `run` on environments behind JSON over HTTP: the requests of its steps, with
   libcurl only. bare_json ORIGIN STEPS PATH BODY [PATH].. In each step BODY is sent to the first
   PATH, its @ being RIGHT and LEFT in turn, and the other paths are read. Cookies are kept and sent;
   replies are dropped. */
#include <curl/curl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t drop(char *bytes, size_t size, size_t n, void *arg)
{
	(void)bytes;
	(void)arg;
	return size * n;
}

static void request(CURL *curl, const char *origin, const char *path, const char *body)
{
	char url[512];
	long status = 0;

	snprintf(url, sizeof url, "%s%s", origin, path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	if (body)
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	else
		curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
	CURLcode code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK || status >= 300) {
		fprintf(stderr, "bare_json: %s: %s, status %ld\n", url, curl_easy_strerror(code),
		        status);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	long steps = argc > 4 ? strtol(argv[2], NULL, 10) : 0;
	char body[2][2048];

	if (steps <= 0) {
		fputs("usage: bare_json ORIGIN STEPS PATH BODY [PATH]..\n", stderr);
		return 2;
	}
	int before = (int)strcspn(argv[4], "@");
	for (int i = 0; i < 2; i++) {
		snprintf(body[i], sizeof body[i], "%.*s%s%s", before, argv[4], i ? "LEFT" : "RIGHT",
		         argv[4] + before + 1);
	}
	curl_global_init(CURL_GLOBAL_DEFAULT);
	CURL *curl = curl_easy_init();
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	headers = curl_slist_append(headers, "X-Session-ID: s-1");
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_COOKIEFILE, "");
	for (long i = 0; i < steps; i++) {
		request(curl, argv[1], argv[3], body[i % 2]);
		for (char **path = argv + 5; *path; path++)
			request(curl, argv[1], *path, NULL);
	}
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	curl_global_cleanup();
	return 0;
}
