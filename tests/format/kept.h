/*
 * A case that owns what it makes: traces, files and memory are kept until the case ends and
 * released then, whether it passed or failed.
 */
#ifndef DAGTAP_TESTS_FORMAT_KEPT_H
#define DAGTAP_TESTS_FORMAT_KEPT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Lets the case's end call RELEASE with OBJECT, the newest object first. Returns OBJECT. */
void *keep(void *object, void (*release)(void *object));

/* A case at whose end kept_teardown releases what was kept. */
int kept_teardown(void **state);
#define KEPT_CASE(name) cmocka_unit_test_teardown(name, kept_teardown)

#endif
