/* Implements json_reader.h with RapidJSON, whose templates need C++. Without exceptions, RTTI and
 * `new` it does not need the C++ library, and the C compiler driver compiles it.
 *
 * This is the only C++ in src, and it is here because it is fast: yajl, a JSON reader in C, takes
 * 1.6 times the CPU time for the same tokens (1.5 to 1.9 in four runs; token_rate and c_token_rate
 * of dagtap-bench kineto-read, where libyajl.so.2 is installed). */
#include "wire/json_reader.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* RapidJSON's in-place parsing allocates nothing. */
#define RAPIDJSON_NEW(what)    NULL
#define RAPIDJSON_DELETE(what) ((void)(what))
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

namespace
{

/* Number of bytes, MOST at most, before the text's end quote, an escape or a control character.
 * Without SSE2, reading a Kineto file of 75 MB takes 1.10 times the CPU time (1.05 to 1.13;
 * bench/compare-programs.py, 12 rounds). */
size_t plain_bytes(const char *text, size_t most)
{
	size_t bytes = 0;
#ifdef __SSE2__
	const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
	const __m128i control = _mm_set1_epi8(0x1f);

	for (; most - bytes >= sizeof(__m128i); bytes += sizeof(__m128i)) {
		__m128i row = _mm_loadu_si128(reinterpret_cast<const __m128i *>(text + bytes));
		__m128i ends =
			_mm_or_si128(_mm_cmpeq_epi8(row, quote), _mm_cmpeq_epi8(row, backslash));
		__m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(row, control), row);
		int found = _mm_movemask_epi8(_mm_or_si128(ends, controls));

		if (found)
			return bytes +
			       static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(found)));
	}
#endif
	while (bytes < most && text[bytes] != '"' && text[bytes] != '\\' &&
	       static_cast<unsigned char>(text[bytes]) >= ' ')
		bytes++;
	return bytes;
}

/* Programs do not write longer numbers. RapidJSON parses and checks them. */
constexpr ptrdiff_t NUMBER_BYTES_MOST = 64;

/* Length of a number that consists of a sign, digits and perhaps a point. 0 if it has another
 * form, or may continue behind END. */
size_t number_bytes(const char *text, const char *end)
{
	const char *at = text + (text < end && *text == '-'), *digits = at;

	while (at < end && *at >= '0' && *at <= '9')
		at++;
	if (at == digits || at == end || (*digits == '0' && at - digits > 1))
		return 0;
	if (*at == '.') {
		digits = ++at;
		while (at < end && *at >= '0' && *at <= '9')
			at++;
		if (at == digits || at == end)
			return 0;
	}
	if (*at == 'e' || *at == 'E' || at - text > NUMBER_BYTES_MOST)
		return 0;
	return static_cast<size_t>(at - text);
}

/* The text as a stream for RapidJSON's in-place parsing. The handler gets a token where it lies
 * in its piece. If a token continues in the next piece, its bytes so far are copied to `kept_`. A
 * text with escapes is composed in `put_`. */
class pieces
{
      public:
	typedef char Ch;

	/* KEPT and PUT must have room for JSON_TOKEN_MOST bytes each. */
	pieces(const json_handler *handler, void *context, char *kept, char *put)
	    : handler_(handler), context_(context), kept_(kept), put_(put)
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

	/* RapidJSON begins a text. Its bytes come through take_plain and Put. RapidJSON
		 * puts a zero byte at its end. */
	Ch *PutBegin()
	{
		text_ = Tell();
		plain_ = put_bytes_ = 0;
		is_put_ = false;
		return put_;
	}
	void take_plain()
	{
		size_t bytes = plain_bytes(at_, static_cast<size_t>(end_ - at_));

		if (RAPIDJSON_UNLIKELY(is_put_))
			put(at_, bytes);
		plain_ += bytes;
		at_ += bytes;
	}
	size_t skip_number()
	{
		size_t bytes = number_bytes(at_, end_);

		at_ += bytes;
		return bytes;
	}
	void Put(Ch c)
	{
		/* A zero byte is the end of the text only behind its quote: the
				 * escape \u0000 also puts a zero byte, and ends in a digit. */
		bool is_end = c == '\0' && at_[-1] == '"';

		if (RAPIDJSON_LIKELY(is_end))
			return;
		if (!is_put_)
			put(written(text_), plain_);
		is_put_ = true;
		put(&c, 1);
	}
	size_t PutEnd(Ch *) const
	{
		return (is_put_ ? put_bytes_ : plain_) + 1;
	}

	/* The text that has just ended; the number of BYTES that has just ended. */
	const char *text()
	{
		return RAPIDJSON_UNLIKELY(is_put_) ? put_ : written(text_);
	}
	const char *number(size_t bytes)
	{
		return written(Tell() - bytes);
	}

	/* The current token is complete and not needed any more; the next one begins
		 * here. */
	void mark()
	{
		mark_ = Tell();
		kept_bytes_ = 0;
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
	void put(const char *bytes, size_t count)
	{
		memcpy(put_ + put_bytes_, bytes, count);
		put_bytes_ += count;
	}

	/* Copies to `kept_` what was read of this piece since the last mark. */
	void keep()
	{
		size_t from = mark_ + kept_bytes_, bytes = Tell() - from;

		if (bytes)
			memcpy(kept_ + kept_bytes_, at_ - bytes, bytes);
		kept_bytes_ += bytes;
	}

	/* A pointer to the contiguous bytes from offset FROM, behind the mark, up to
		 * here. */
	const char *written(size_t from)
	{
		if (RAPIDJSON_LIKELY(from >= before_))
			return begin_ + (from - before_);
		keep();
		return kept_ + (from - mark_);
	}

	/* Gets the next piece. Not inlined, so that Peek and Take stay small enough to be
		 * inlined into RapidJSON's loops. */
	__attribute__((noinline, cold)) bool refill()
	{
		const char *piece;
		size_t bytes;

		if (is_at_end_ || is_too_long_)
			return false;
		keep();
		before_ = Tell();
		begin_ = at_ = end_ = NULL;
		bytes = handler_->next(context_, &piece);
		/* A token is at most as long as all bytes since the token before
				 * it. */
		is_too_long_ = bytes && Tell() + bytes - mark_ > JSON_TOKEN_MOST;
		is_at_end_ = bytes == 0;
		if (is_at_end_ || is_too_long_)
			return false;
		begin_ = at_ = piece;
		end_ = piece + bytes;
		return true;
	}

	const char *begin_ = NULL, *at_ = NULL, *end_ = NULL;
	size_t before_ = 0, mark_ = 0;
	size_t text_ = 0, plain_ = 0; /* where the text began, and its length before an escape */
	size_t kept_bytes_ = 0, put_bytes_ = 0;
	bool is_put_ = false, is_at_end_ = false, is_too_long_ = false;
	const json_handler *handler_;
	void *context_;
	char *kept_, *put_;
};

/* Replaces RapidJSON's generic function, which the compiler does not inline. */
__attribute__((always_inline)) inline void SkipWhitespace(pieces &stream)
{
	for (;;) {
		char c = stream.Peek();

		if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
			return;
		stream.Take();
	}
}

/* An encoding that passes texts on unchanged, whatever bytes they have. */
struct as_is : rapidjson::UTF8<> {
};

constexpr unsigned FLAGS = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseInsituFlag;

/* RapidJSON's handler: passes tokens on to the caller's handler. */
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
	bool RawNumber(const char *, rapidjson::SizeType bytes, bool)
	{
		bool goes_on = handler_->number(context_, stream_->number(bytes), bytes);

		stream_->mark();
		return goes_on;
	}
	bool String(const char *, rapidjson::SizeType bytes, bool)
	{
		bool goes_on = handler_->text(context_, stream_->text(), bytes);

		stream_->mark();
		return goes_on;
	}
	bool Key(const char *, rapidjson::SizeType bytes, bool)
	{
		bool goes_on = handler_->key(context_, stream_->text(), bytes);

		stream_->mark();
		return goes_on;
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

	/* Not called, because of kParseNumbersAsStringsFlag. */
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

} // namespace

/* RapidJSON asks the encoding for the next character of a text. It also works if it gets several
 * characters at once. */
template <> struct rapidjson::Transcoder<as_is, as_is> {
	static RAPIDJSON_FORCEINLINE bool Transcode(pieces &from, pieces &)
	{
		from.take_plain();
		return true;
	}

	/* RapidJSON's code names these for texts that are not read in place or that are
		 * validated; they are not called. */
	template <typename sink> static bool Transcode(pieces &, sink &)
	{
		return false;
	}
	template <typename source, typename sink> static bool Validate(source &, sink &)
	{
		return false;
	}
};

namespace
{

typedef rapidjson::GenericReader<as_is, as_is> reader;

} // namespace

/* RapidJSON converts numbers, which is not needed here. So this specialization takes the usual
 * numbers itself, and gives RapidJSON only the unusual ones. The flag kParseStopWhenDoneFlag has
 * no effect on numbers; it selects RapidJSON's own instance of the function. ParseNumber is
 * private to RapidJSON 1.1: with another version, in which the name may mean something else,
 * RapidJSON gets all numbers, which is slower. */
#if RAPIDJSON_MAJOR_VERSION == 1 && RAPIDJSON_MINOR_VERSION == 1
template <>
template <>
inline void reader::ParseNumber<FLAGS, pieces, tokens>(pieces &from, tokens &to)
{
	size_t begin = from.Tell(), bytes = from.skip_number();

	if (bytes == 0)
		ParseNumber<FLAGS | rapidjson::kParseStopWhenDoneFlag>(from, to);
	else if (!to.RawNumber(NULL, static_cast<rapidjson::SizeType>(bytes), false))
		SetParseError(rapidjson::kParseErrorTermination, begin);
}
#endif

namespace
{

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
	/* Reserves address space; pages that are never written use no memory. */
	size_t room = 2 * static_cast<size_t>(JSON_TOKEN_MOST);
	void *block = mmap(NULL, room, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *bytes = static_cast<char *>(block);
	int result = 0;

	if (block == MAP_FAILED)
		return -ENOMEM;
	{
		pieces stream(handler, context, bytes, bytes + JSON_TOKEN_MOST);
		tokens sink(handler, context, &stream);
		reader parser;

		parser.Parse<FLAGS>(stream, sink);
		if (parser.HasParseError())
			result = stop_at(parser, stream, sink, ret_stop);
	}
	munmap(block, room);
	return result;
}
