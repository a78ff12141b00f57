/** The images that go along with a message. */
import type { Draft } from "../app/draft.ts";
import { CloseIcon, ImageIcon } from "../app/icons.tsx";
import { Name } from "../text/name.tsx";
import { toSafeName } from "../text/visible-text.ts";

export const AttachedImages = ({ draft }: { draft: Draft }) => (
  <>
    {draft.images.map((image, index) => (
      <span class="attached" key={index}>
        <img src={`data:${image.mimeType};base64,${image.data}`} alt="" />
        <span class="cut">
          <Name text={image.name} />
        </span>
        <button
          type="button"
          class="icon-button"
          aria-label={`Remove ${toSafeName(image.name)}`}
          onClick={() => (draft.images = draft.images.filter((other) => other !== image))}
        >
          <CloseIcon />
        </button>
      </span>
    ))}
    {draft.isReading && (
      <p class="muted small" role="status">
        Reading an image…
      </p>
    )}
  </>
);

export const AttachButton = ({ attach }: { attach: (files: readonly File[]) => void }) => (
  <label class="icon-button" title="Attach an image">
    <ImageIcon />
    <span class="only-heard">Attach an image</span>
    <input
      class="only-heard"
      type="file"
      accept="image/*"
      multiple
      onChange={(event) => {
        attach([...(event.currentTarget.files ?? [])]);
        event.currentTarget.value = "";
      }}
    />
  </label>
);
