/* Links the library of early.c; does nothing else. */
int early_is_here(void);

int main(void)
{
	return early_is_here();
}
