/** A text with every character that cannot be seen as its number. */
import { splitHidden } from "./visible-text.ts";

export const Hidden = ({ text }: { text: string }) => (
  <>
    {splitHidden(text).map((part, index) =>
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
