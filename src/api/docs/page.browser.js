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

// A language that is chosen once is chosen for the whole page.
for (const choice of document.querySelectorAll(".tabs input")) {
  choice.addEventListener("change", () => {
    for (const same of document.querySelectorAll(`.tabs input[value="${choice.value}"]`)) same.checked = true;
  });
}
