/** Fields that have the focus when they come, with their text selected. */
import type { InputHTMLAttributes, TextareaHTMLAttributes } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export function FocusedInput(props: InputHTMLAttributes<HTMLInputElement>) {
  return <input {...props} ref={useSelected<HTMLInputElement>()} />;
}

/** With more than one line. */
export function FocusedText(props: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <textarea {...props} ref={useSelected<HTMLTextAreaElement>()} />;
}

function useSelected<Field extends HTMLInputElement | HTMLTextAreaElement>() {
  const field = useRef<Field>(null);
  // At once: a key that is pressed before the next frame is for this field.
  useLayoutEffect(() => field.current?.select(), []);
  return field;
}
