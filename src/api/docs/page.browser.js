// Conveniences of the page. Without JavaScript, nothing else is missing.

for (const block of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = block.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      // Over plain HTTP browsers give no clipboard: the text is selected instead, for Ctrl-C.
      getSelection().selectAllChildren(block.querySelector("code"));
      button.textContent = "Selected";
    }
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  });
  block.append(button);
}

// A language that is chosen once is chosen for the whole page.
for (const choice of document.querySelectorAll(".tabs input")) {
  choice.addEventListener("change", () => {
    for (const same of document.querySelectorAll(`.tabs input[value="${choice.value}"]`)) same.checked = true;
  });
}

const links = new Map([...document.querySelectorAll("nav a[href^='#']")].map((link) => [link.hash.slice(1), link]));
const watcher = new IntersectionObserver(
  (entries) => {
    const shown = entries.find((entry) => entry.isIntersecting);
    if (shown === undefined) return;
    for (const [id, link] of links) {
      if (id === shown.target.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  },
  { rootMargin: "0px 0px -75% 0px" },
);
for (const id of links.keys()) watcher.observe(document.getElementById(id));
