// Conveniences of the page. Without JavaScript, nothing else is missing.

for (const code of document.querySelectorAll(".code code")) {
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      // Over plain HTTP browsers give no clipboard: the text is selected instead, for Ctrl-C.
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  });
  code.closest(".code").append(button);
}

// A language that is chosen once is chosen for the whole page, and at the next visit.
function choose(language) {
  for (const same of document.querySelectorAll(`.tabs input[value="${CSS.escape(language)}"]`)) same.checked = true;
}
for (const choice of document.querySelectorAll(".tabs input")) {
  choice.addEventListener("change", () => {
    choose(choice.value);
    try {
      localStorage.setItem("language", choice.value);
    } catch {
      // The browser keeps nothing of this site.
    }
  });
}
try {
  choose(localStorage.getItem("language") ?? "");
} catch {
  // As above.
}

// A search over headings, error codes, parameters, fields, and headers shows matching entries in place of the contents.
const contents = document.getElementById("contents");
const all = [...contents.children];
const rows = [...document.querySelectorAll("tr[id]")].map((row) => {
  const item = document.createElement("li");
  const link = document.createElement("a");
  let heading = row.closest(".with-sample") ?? row.closest("table");
  while (heading.tagName !== "H2" && heading.tagName !== "H3") heading = heading.previousElementSibling;
  link.href = `#${row.id}`;
  link.textContent = `${row.dataset.name} · ${heading.firstChild.textContent.trim()}`;
  item.append(link);
  return item;
});
const search = document.createElement("input");
Object.assign(search, { type: "search", className: "search", placeholder: "Search ( / )", autocomplete: "off" });
search.setAttribute("aria-label", "Search headings, codes, and fields");
const found = document.createElement("p");
found.className = "unseen";
found.setAttribute("role", "status");
contents.before(search, found);

const plain = (text) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
search.addEventListener("input", () => {
  const wanted = plain(search.value);
  const shown =
    wanted === "" ? all : [...all, ...rows].filter(({ textContent }) => plain(textContent).includes(wanted));
  contents.replaceChildren(...shown);
  contents.classList.toggle("results", wanted !== "");
  found.textContent = wanted === "" ? "" : `${shown.length} found`;
});
search.addEventListener("keydown", ({ key }) => {
  const first = contents.querySelector("a");
  if (key === "Enter" && search.value !== "" && first !== null) location.hash = first.hash;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && search.value !== "") {
    search.value = "";
    search.dispatchEvent(new Event("input"));
  }
  const isModified = event.ctrlKey || event.metaKey;
  if (isModified ? event.key !== "k" : event.key !== "/" || event.target.matches("[type=search]")) return;
  event.preventDefault();
  search.focus();
});
