/** Splits a response body into a protocol's frames. */
import { classifyError, type Failure, parseErrorBody } from "../failure.ts";
import { tryParseJson } from "../json.ts";
import { type HttpResponse, maxErrorBytes, maxResponseBytes, readText } from "../transport/http.ts";
import { type ServerSentEvent, SseFramer } from "../transport/sse.ts";
import type { Frame, Framer, Framing } from "./protocol.ts";

/**
 * Passes frames to `take` until it returns true or the body ends. Returns a failure if the body is not the expected
 * stream or is damaged. It applies only if the frames did not amount to an answer.
 */
export async function readFrames(
  response: HttpResponse,
  framing: Framing,
  take: (frame: Frame) => boolean,
): Promise<Failure | undefined> {
  const framer = createFramer(framing);
  let size = 0;
  let isEmpty = true;
  for await (const chunk of response.body) {
    const firstByte = isEmpty ? chunk.find(isNotWhitespace) : undefined;
    if (firstByte !== undefined) {
      isEmpty = false;
      if (isDocumentStart(firstByte)) {
        const canBeAnswer = framing === "text" || firstByte !== 0x3c;
        const body = await readDocument(chunk, response.body, canBeAnswer ? maxResponseBytes : maxErrorBytes);
        if (framing === "text") {
          take({ event: "document", data: body });
          return undefined;
        }
        // Some servers do not stream and send the whole answer, which the protocol may understand.
        const data = framing === "sse" ? tryParseJson(body) : undefined;
        if (data !== undefined) take({ data });
        return classifyDocument(body);
      }
    }
    size += chunk.length;
    if (size > maxResponseBytes) {
      return { kind: "unknown", message: `The answer is longer than ${maxResponseBytes} bytes and was cut off.` };
    }
    for (const frame of framer.push(chunk)) if (take(frame)) return undefined;
    if (framer.damage) return { kind: "network", message: framer.damage };
  }
  if (isEmpty) return { kind: "network", message: "The server answered with an empty body." };
  for (const frame of framer.end()) if (take(frame)) return undefined;
  return framer.damage ? { kind: "network", message: framer.damage } : undefined;
}

const isNotWhitespace = (byte: number) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09;

/** JSON and HTML start with `{`, `[` or `<`; a stream starts with a field name, a comment or a binary length. */
const isDocumentStart = (byte: number) => byte === 0x7b || byte === 0x5b || byte === 0x3c;

async function readDocument(
  firstChunk: Uint8Array,
  remaining: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<string> {
  async function* readChunks() {
    yield firstChunk;
    yield* remaining;
  }
  return await readText(readChunks(), maxBytes);
}

function classifyDocument(body: string): Failure {
  const error = parseErrorBody(body);
  const failure = classifyError(error);
  if (failure.kind !== "unknown") return failure;
  return { kind: "unknown", message: `The server answered with a document instead of a stream: ${error.message}` };
}

function createFramer(framing: Framing): Framer {
  if (typeof framing === "function") return framing();
  switch (framing) {
    case "sse":
      return new SseFrames(parseJsonEvent);
    case "text":
      // Names are dropped, so that none is taken for a `document`.
      return new SseFrames(({ data }) => [{ data }]);
  }
}

/** Server-sent events. `parse` returns the frames of an event, with undefined for damaged data. */
class SseFrames implements Framer {
  readonly #framer = new SseFramer();
  readonly #parse: (event: ServerSentEvent) => (Frame | undefined)[];
  #damage: string | undefined;

  constructor(parse: (event: ServerSentEvent) => (Frame | undefined)[]) {
    this.#parse = parse;
  }

  get damage(): string | undefined {
    return this.#damage ?? this.#framer.damage;
  }

  push(chunk: Uint8Array): Frame[] {
    return this.#toFrames(this.#framer.push(chunk));
  }

  end(): Frame[] {
    return this.#toFrames(this.#framer.end());
  }

  #toFrames(events: readonly ServerSentEvent[]): Frame[] {
    const frames: Frame[] = [];
    for (const event of events) {
      const parsed = this.#parse(event);
      frames.push(...parsed.filter((frame) => frame !== undefined));
      if (!parsed.includes(undefined)) continue;
      this.#damage = `The stream is damaged: ${JSON.stringify(event.data.slice(0, 200))} is not JSON.`;
      break;
    }
    return frames;
  }
}

/** Some servers omit the blank line between events, which makes them one event with a JSON document on each line. */
function parseJsonEvent({ event, data }: ServerSentEvent): (Frame | undefined)[] {
  const whole = parseData(data);
  const values = whole === undefined ? data.split("\n").map(parseData) : [whole];
  return values.map((value) => {
    if (value === undefined) return undefined;
    return event === undefined ? { data: value } : { event, data: value };
  });
}

function parseData(data: string): unknown {
  const text = data.trim();
  return text === "" || text === "[DONE]" ? text : tryParseJson(text);
}
