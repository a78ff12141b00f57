/** Parses what a user pastes after a login: the whole address, `code#state`, `code=…&state=…`, or the code. Pure. */
export interface AuthorizationAnswer {
  code: string | undefined;
  state: string | undefined;
  /** Why the server gave no code. */
  error: string | undefined;
  /** The server that answers (RFC 9207). */
  issuer: string | undefined;
}

export function parsePasted(text: string): AuthorizationAnswer {
  const pasted = text.trim();
  if (URL.canParse(pasted) && /^https?:/i.test(pasted)) return readAnswer(new URL(pasted).searchParams);
  if (/(^|[?&])(code|error)=/.test(pasted)) return readAnswer(new URLSearchParams(pasted.replace(/^[^?]*\?/, "")));
  const [code, state] = pasted.split("#", 2);
  return { code: code || undefined, state: state || undefined, error: undefined, issuer: undefined };
}

export function readAnswer(parameters: URLSearchParams): AuthorizationAnswer {
  const value = (name: string) => parameters.get(name) || undefined;
  return { code: value("code"), state: value("state"), error: value("error"), issuer: value("iss") };
}
