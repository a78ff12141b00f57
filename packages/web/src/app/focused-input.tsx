/** A field that has the focus when it comes. */
import type { InputHTMLAttributes } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export function FocusedInput(props: InputHTMLAttributes<HTMLInputElement>) {
  const input = useRef<HTMLInputElement>(null);
  // At once: a key that is pressed before the next frame is for this field.
  useLayoutEffect(() => input.current?.select(), []);
  return <input {...props} ref={input} />;
}
