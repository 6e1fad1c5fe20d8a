// SPDX-License-Identifier: Apache-2.0
// Loads the page again when a run may have ended, and leaves the reader where they were.
"use strict";
(() => {
  const seconds = Number(document.documentElement.dataset.refresh);
  const KEPT = "focus " + location.pathname + location.search;
  const links = () => [...document.querySelectorAll("a[href]")];

  const [kind, what, place] = JSON.parse(sessionStorage.getItem(KEPT) || "[]");
  sessionStorage.removeItem(KEPT);
  const alike = links().filter((link) => kind === "link" && link.getAttribute("href") === what);
  const kept = kind === "field" ? document.getElementById(what) : alike[place] || alike[0];
  kept?.focus({ preventScroll: true });
  if (!seconds) return;

  // What was typed or marked and not yet used would be lost.
  function busy() {
    const here = document.activeElement;
    const typed = here?.matches("input") && here.value !== here.defaultValue;
    return document.hidden || typed || here?.matches("select") || !document.getSelection().isCollapsed;
  }

  function keep(here) {
    const href = here?.getAttribute("href");
    const found = href && ["link", href, links().filter((link) => link.getAttribute("href") === href).indexOf(here)];
    const said = found || (here?.id && ["field", here.id]);
    if (said) sessionStorage.setItem(KEPT, JSON.stringify(said));
  }

  function refresh() {
    const waits = busy();
    document.getElementById("waits").hidden = !waits;
    if (waits) {
      setTimeout(refresh, 5000);
      return;
    }
    keep(document.activeElement);
    location.reload();
  }
  setTimeout(refresh, seconds * 1000);
})();
