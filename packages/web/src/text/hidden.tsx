/** A text with every character that cannot be seen as its number. */
import { splitHidden } from "./visible-text.ts";

/** `pattern`: only these characters. */
export const Hidden = ({ text, pattern }: { text: string; pattern?: RegExp }) => (
  <>
    {splitHidden(text, pattern).map((part, index) =>
      part.isHidden ? (
        <span key={index} class="hidden-character">
          {part.text}
        </span>
      ) : (
        part.text
      ),
    )}
  </>
);
