/* Reads the packets of a Perfetto file: perfetto_decode.h. */
#include "perfetto_decode.h"

struct perfetto_file perfetto_write_as(const struct trace *trace, const struct format *format)
{
	struct perfetto_file file;

	file.text = sample_write(trace, format, NULL, &file.message.size);
	file.message.bytes = (const uint8_t *)file.text;
	return file;
}

struct perfetto_file perfetto_write(const struct trace *trace)
{
	return perfetto_write_as(trace, &format_perfetto);
}

bool perfetto_packet(const struct perfetto_file *file, uint32_t field, unsigned index,
		     struct message *ret_packet)
{
	struct field packet;
	struct field found;
	size_t offset = 0;

	while (decode_next(&file->message, &offset, &packet)) {
		assert_int_equal(packet.number, TRACE_PACKET);
		if (decode_find(&packet.message, field, 0, &found) && index-- == 0) {
			*ret_packet = packet.message;
			return true;
		}
	}
	return false;
}

unsigned perfetto_count(const struct perfetto_file *file, uint32_t field)
{
	struct message packet;
	unsigned count = 0;

	while (perfetto_packet(file, field, count, &packet))
		count++;
	return count;
}

struct message perfetto_stage(const struct perfetto_file *file, unsigned activity, uint64_t *ret_ns)
{
	struct message packet;

	assert_true(perfetto_packet(file, PACKET_GPU_RENDER_STAGE_EVENT, activity, &packet));
	if (ret_ns)
		*ret_ns = decode_number(&packet, PACKET_TIMESTAMP);
	return decode_message(&packet, PACKET_GPU_RENDER_STAGE_EVENT);
}
