/* RapidJSON (templates, hence C++) behind json_reader.h. Without exceptions, run-time types and `new`
 * nothing of C++'s library is needed. */
#include "wire/json_reader.h"

#include <cerrno>
#include <cstdlib>
#include <sys/mman.h>

/* Who is handed an allocator makes none. */
#define RAPIDJSON_NEW(what)    NULL
#define RAPIDJSON_DELETE(what) ((void)(what))
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

namespace
{

/* Beyond a token there is a little else on RapidJSON's stack. */
constexpr size_t ROOM_BYTES = JSON_TOKEN_MOST + (1u << 20);

/* RapidJSON trusts its allocator. So there is one block, reserved at the start; of what is never written
 * to there is no memory. */
class one_block
{
      public:
	explicit one_block(void *block) : block_(block)
	{
	}
	void *Malloc(size_t)
	{
		return block_;
	}
	void *Realloc(void *, size_t, size_t)
	{
		return block_;
	}
	static void Free(void *)
	{
	}

      private:
	void *block_;
};

class pieces
{
      public:
	typedef char Ch;

	pieces(const json_handler *handler, void *context) : handler_(handler), context_(context)
	{
	}

	Ch Peek()
	{
		if (RAPIDJSON_UNLIKELY(at_ == end_) && !refill())
			return '\0';
		return *at_;
	}
	Ch Take()
	{
		if (RAPIDJSON_UNLIKELY(at_ == end_) && !refill())
			return '\0';
		return *at_++;
	}
	size_t Tell() const
	{
		return before_ + static_cast<size_t>(at_ - begin_);
	}

	/* A stream that is read from needs these by name alone. */
	Ch *PutBegin()
	{
		return NULL;
	}
	void Put(Ch)
	{
	}
	size_t PutEnd(Ch *)
	{
		return 0;
	}

	/* The token that began at the last mark is complete. */
	void mark()
	{
		mark_ = Tell();
	}
	bool is_at_end() const
	{
		return is_at_end_;
	}
	bool is_too_long() const
	{
		return is_too_long_;
	}

      private:
	bool refill()
	{
		const char *piece;
		size_t bytes;

		if (is_at_end_ || is_too_long_)
			return false;
		bytes = handler_->next(context_, &piece);
		/* A token is shorter than what has come since the one before it. */
		is_too_long_ = bytes && Tell() + bytes - mark_ > JSON_TOKEN_MOST;
		is_at_end_ = bytes == 0;
		if (is_at_end_ || is_too_long_)
			return false;
		before_ = Tell();
		begin_ = at_ = piece;
		end_ = piece + bytes;
		return true;
	}

	const json_handler *handler_;
	void *context_;
	const char *begin_ = NULL, *at_ = NULL, *end_ = NULL;
	size_t before_ = 0, mark_ = 0;
	bool is_at_end_ = false, is_too_long_ = false;
};

constexpr unsigned FLAGS = rapidjson::kParseNumbersAsStringsFlag;

class tokens
{
      public:
	tokens(const json_handler *handler, void *context, pieces *stream)
	    : handler_(handler), context_(context), stream_(stream)
	{
	}

	bool Null()
	{
		return handler_->literal(context_, "null");
	}
	bool Bool(bool value)
	{
		return handler_->literal(context_, value ? "true" : "false");
	}
	bool RawNumber(const char *text, rapidjson::SizeType bytes, bool)
	{
		stream_->mark();
		return handler_->number(context_, text, bytes);
	}
	bool String(const char *text, rapidjson::SizeType bytes, bool)
	{
		stream_->mark();
		return handler_->text(context_, text, bytes);
	}
	bool Key(const char *text, rapidjson::SizeType bytes, bool)
	{
		stream_->mark();
		return handler_->key(context_, text, bytes);
	}
	bool StartObject()
	{
		return begin(true);
	}
	bool EndObject(rapidjson::SizeType)
	{
		return end(true);
	}
	bool StartArray()
	{
		return begin(false);
	}
	bool EndArray(rapidjson::SizeType)
	{
		return end(false);
	}

	/* Not called: numbers come as texts. */
	bool Int(int)
	{
		return false;
	}
	bool Uint(unsigned)
	{
		return false;
	}
	bool Int64(int64_t)
	{
		return false;
	}
	bool Uint64(uint64_t)
	{
		return false;
	}
	bool Double(double)
	{
		return false;
	}

	bool is_too_deep() const
	{
		return depth_ > JSON_READ_DEPTH_MOST;
	}

      private:
	bool begin(bool is_object)
	{
		stream_->mark();
		depth_++;
		return !is_too_deep() && handler_->begin(context_, is_object);
	}
	bool end(bool is_object)
	{
		stream_->mark();
		depth_--;
		return handler_->end(context_, is_object);
	}

	const json_handler *handler_;
	void *context_;
	pieces *stream_;
	unsigned depth_ = 0;
};

typedef rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, one_block> reader;

int stop_at(const reader &parser, const pieces &stream, const tokens &handler, json_stop *ret_stop)
{
	ret_stop->offset = parser.GetErrorOffset();
	ret_stop->cause = rapidjson::GetParseError_En(parser.GetParseErrorCode());
	ret_stop->is_cut_off = stream.is_at_end();
	if (stream.is_too_long()) {
		ret_stop->offset = stream.Tell();
		ret_stop->cause = "Nothing that ends within 64 MiB.";
	} else if (handler.is_too_deep()) {
		ret_stop->cause = "Values nested more than 512 deep.";
	} else if (parser.GetParseErrorCode() == rapidjson::kParseErrorTermination) {
		return -ECANCELED;
	}
	return -EBADMSG;
}

} // namespace

int json_read(const json_handler *handler, void *context, json_stop *ret_stop)
{
	void *block = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int result = 0;

	if (block == MAP_FAILED)
		return -ENOMEM;
	{
		one_block allocator(block);
		pieces stream(handler, context);
		tokens sink(handler, context, &stream);
		reader parser(&allocator, ROOM_BYTES);

		parser.Parse<FLAGS>(stream, sink);
		if (parser.HasParseError())
			result = stop_at(parser, stream, sink, ret_stop);
	}
	munmap(block, ROOM_BYTES);
	return result;
}
