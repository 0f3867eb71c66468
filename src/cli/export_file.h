/* `dagtap export` for other code of the command line. Threading: one thread at a time. */
#ifndef DAGTAP_CLI_EXPORT_FILE_H
#define DAGTAP_CLI_EXPORT_FILE_H

/* Writes the recording INPUT as OUTPUT in the format NAME, which there must be, and replaces OUTPUT
 * if it exists. Returns CLI_OK; CLI_LOSS if INPUT is damaged and its readable part was written; or
 * CLI_FAILED after a message. */
int export_file(const char *name, const char *input, const char *output);

#endif
