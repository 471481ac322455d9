// A scenario in the part of a link behind #, which no server sees: #s=BASE64URL(deflate(text))&t=SECONDS.

const MOST = 200_000; // bytes of a text that a link may hold

async function through(bytes: Uint8Array, stream: GenericTransformStream): Promise<Uint8Array> {
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, BufferSource>).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST) throw new Error("its text is too long");
    parts.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export async function toLink(text: string, time: number): Promise<string> {
  const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  return `#s=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}&t=${time.toFixed(3)}`;
}

/** null: the link holds none. Throws where what it holds is not a text. */
export async function fromLink(hash: string): Promise<{text: string; time: number} | null> {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const packed = parameters.get("s");
  if (!packed) return null;
  let binary: string;
  try {
    binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    throw new Error("it is not base64");
  }
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  let plain: Uint8Array;
  try {
    plain = await through(bytes, new DecompressionStream("deflate-raw"));
  } catch (error) {
    throw new Error(error instanceof Error && /long/.test(error.message) ? error.message : "it is damaged");
  }
  const time = Number(parameters.get("t") ?? 0);
  return {text: new TextDecoder().decode(plain), time: Number.isFinite(time) && time > 0 ? time : 0};
}
