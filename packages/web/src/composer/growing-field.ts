/** A field that is as high as its text. Not by `field-sizing`, which Firefox and Safari do not have. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";

export function useGrowingField(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => grow(field.current), [field, text]);
  useEffect(() => {
    // Lines are longer or shorter when a phone is turned.
    const onResize = () => grow(field.current);
    window.addEventListener("resize", onResize);
    return () => window.removeEventListener("resize", onResize);
  }, [field]);
}

function grow(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
