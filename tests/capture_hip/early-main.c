int early_is_here(void);

int main(void)
{
	return early_is_here();
}
