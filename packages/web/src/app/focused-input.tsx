/** A field that has the focus when it comes. */
import type { InputHTMLAttributes } from "preact";
import { useEffect, useRef } from "preact/hooks";

export function FocusedInput(props: InputHTMLAttributes<HTMLInputElement>) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  return <input {...props} ref={input} />;
}
