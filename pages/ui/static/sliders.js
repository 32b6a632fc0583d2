// Hears the sliders of “What if” while they move: Streamlit tells the server only where they are left.
class Sliders {
  constructor(onMove) {
    this.observer = new MutationObserver((changes) => {
      const thumb = changes.at(-1).target, name = this.names.find((key) => thumb.closest(`[class*="st-key-${key}-"]`));
      if (name) onMove(name, Number(thumb.value));
    });
  }

  watch(sliders) {
    this.names = Object.keys(sliders ?? {});
    this.observer.disconnect();
    const panel = this.names.length && document.querySelector(".st-key-side_what_if");
    if (panel) this.observer.observe(panel, { subtree: true, attributeFilter: ["aria-valuetext"] });
  }
}
