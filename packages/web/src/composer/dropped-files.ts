/** Files that are dropped onto the page. Without this, the browser would leave the page to show them. */
import { useEffect } from "preact/hooks";

export const listImages = (data: DataTransfer | null): File[] =>
  [...(data?.files ?? [])].filter(({ type }) => type.startsWith("image/"));

export function useDroppedFiles(attach: (files: readonly File[]) => void): void {
  useEffect(() => {
    const onDragOver = (event: DragEvent) => event.dataTransfer?.types.includes("Files") && event.preventDefault();
    const onDrop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      const images = listImages(event.dataTransfer);
      if (images.length > 0) attach(images);
    };
    document.addEventListener("dragover", onDragOver);
    document.addEventListener("drop", onDrop);
    return () => {
      document.removeEventListener("dragover", onDragOver);
      document.removeEventListener("drop", onDrop);
    };
  });
}
