# Sourced before tests/cli/lib.sh. The agents' ids are those of the driver's files, so the test
# begins again with a /sys/class of its own, if the machine gives a mount namespace. Sets
# $has_agents.
has_agents=0
if [ -z "${IN_NAMESPACE:-}" ] && unshare --mount --map-root-user mount -t tmpfs tmpfs /sys/class 2>/dev/null; then
	IN_NAMESPACE=1 exec unshare --mount --map-root-user bash "$0" "$@"
fi
if [ -n "${IN_NAMESPACE:-}" ]; then
	bash "$(dirname "$0")/../rocm/make-topology.sh" /sys/class 1 || exit 1
	has_agents=1
fi
