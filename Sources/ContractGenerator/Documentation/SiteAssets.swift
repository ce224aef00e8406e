/// The style sheet and the script of the site that `mintmark docs` writes.
enum SiteAssets {
    static let style = """
        :root { color-scheme: light dark; --text: #1d2327; --soft: #57636c; --line: #d9dfe3; --back: #ffffff; --raised: #f4f7f8;
          --accent: #0b6e5a; --accent-soft: #e2f2ee; --mark: #fff0b3; }
        @media (prefers-color-scheme: dark) {
          :root { --text: #e3e8ea; --soft: #9aa7af; --line: #323c43; --back: #14191c; --raised: #1c2328; --accent: #5fd0b5;
            --accent-soft: #17332d; --mark: #5c4d12; }
        }
        * { box-sizing: border-box; }
        html { scroll-padding-top: 5rem; -webkit-text-size-adjust: 100%; }
        body { margin: 0; color: var(--text); background: var(--back); font: 16px/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
        a { color: var(--accent); text-underline-offset: 0.15em; text-decoration-thickness: 1px; }
        a:hover { text-decoration-thickness: 2px; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
        code, pre { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        code { font-size: 0.875em; background: var(--raised); border-radius: 4px; padding: 0.1em 0.3em; overflow-wrap: anywhere; }
        h1 code, h2 code, a code { background: none; padding: 0; }
        code.option { white-space: nowrap; }
        .skip { position: absolute; left: -100vw; background: var(--back); padding: 0.5rem 1rem; z-index: 3; }
        .skip:focus { left: 0; }
        .top { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; align-items: center; gap: 0.35rem 1.25rem;
          padding: 0.6rem 1rem; background: var(--back); border-bottom: 1px solid var(--line); }
        .top a { text-decoration: none; }
        .brand { font-weight: 700; font-size: 1.1rem; color: var(--text); }
        .brand small { font-weight: 400; color: var(--soft); margin-left: 0.25rem; }
        .places { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; font-size: 0.9375rem; }
        .places a[aria-current] { font-weight: 600; text-decoration: underline; text-decoration-thickness: 2px; }
        .search { margin-left: auto; position: relative; z-index: 2; flex: 0 1 20rem; }
        .search input { width: 100%; font: inherit; font-size: 0.9375rem; color: inherit; background: var(--raised);
          border: 1px solid var(--line); border-radius: 8px; padding: 0.35rem 0.75rem; }
        .found { position: absolute; right: 0; top: calc(100% + 0.4rem); width: min(36rem, calc(100vw - 2rem)); max-height: 75vh;
          overflow-y: auto; background: var(--back); border: 1px solid var(--line); border-radius: 10px; box-shadow: 0 12px 32px #0004; }
        .found a { display: block; padding: 0.55rem 0.9rem; color: inherit; border-bottom: 1px solid var(--line); }
        .found a:last-child { border-bottom: 0; }
        .found a:hover, .found a:focus { background: var(--accent-soft); }
        .found b { font-weight: 600; }
        .found small { color: var(--soft); float: right; margin-left: 0.75rem; }
        .found span { display: block; color: var(--soft); font-size: 0.875rem; line-height: 1.45; }
        .found p { margin: 0; padding: 0.75rem 0.9rem; color: var(--soft); }
        mark { background: var(--mark); color: inherit; border-radius: 2px; }
        .layout { display: flex; flex-direction: column; max-width: 84rem; margin: 0 auto; }
        main { flex: 1; min-width: 0; padding: 1.25rem 1rem 3rem; }
        main > * { max-width: 50rem; }
        .side { padding: 1rem; border-top: 1px solid var(--line); font-size: 0.9375rem; }
        .side { scrollbar-width: thin; }
        .side h2 { font-size: 0.8125rem; text-transform: uppercase; letter-spacing: 0.05em; color: var(--soft); margin: 1.25rem 0 0.35rem; }
        .side h2:first-child { margin-top: 0; }
        .side ul { list-style: none; margin: 0; padding: 0; }
        .side ul ul { padding-left: 0.9rem; border-left: 2px solid var(--line); margin: 0.2rem 0 0.5rem 0.3rem; }
        .side a { display: block; padding: 0.18rem 0; text-decoration: none; color: inherit; }
        .side a:hover { color: var(--accent); text-decoration: underline; }
        .side a[aria-current] { color: var(--accent); font-weight: 600; }
        h1 { font-size: clamp(1.5rem, 1.2rem + 1.5vw, 2.1rem); line-height: 1.2; margin: 0.25rem 0 0.75rem; text-wrap: balance; }
        h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.25rem 0 0.6rem; }
        h3 { font-size: 1.05rem; margin: 1.6rem 0 0.4rem; }
        p, ul, ol, dl, pre, table { margin: 0 0 1rem; }
        ul, ol { padding-left: 1.4rem; }
        li { margin: 0.2rem 0; }
        .lead { font-size: 1.125rem; color: var(--soft); }
        .marks { display: flex; flex-wrap: wrap; gap: 0.4rem; list-style: none; padding: 0; font-size: 0.8125rem; }
        .marks li { margin: 0; border: 1px solid var(--line); border-radius: 99px; padding: 0.05rem 0.65rem; color: var(--soft); }
        .marks .public { background: var(--accent-soft); border-color: transparent; color: var(--accent); }
        pre { background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: 0.75rem 0.9rem; overflow-x: auto;
          font-size: 0.84rem; line-height: 1.5; position: relative; tab-size: 4; }
        pre code { background: none; padding: 0; font-size: inherit; overflow-wrap: normal; }
        .code { margin: 0 0 1rem; }
        .code pre { margin: 0; }
        .wrapped pre { white-space: pre-wrap; }
        .code figcaption { font-size: 0.8125rem; color: var(--soft); margin-bottom: 0.2rem; }
        .copy { position: absolute; top: 0.4rem; right: 0.4rem; font: 0.75rem/1 system-ui, sans-serif; color: var(--soft);
          background: var(--back); border: 1px solid var(--line); border-radius: 6px; padding: 0.3rem 0.5rem; cursor: pointer; opacity: 0; }
        .code:hover .copy, .copy:focus { opacity: 1; }
        .code { position: relative; }
        .picture { margin: 0 0 1.25rem; max-width: none; }
        .picture > div { overflow-x: auto; }
        .languages { margin: -0.4rem 0 1.25rem; }
        .languages summary { font-size: 0.8125rem; color: var(--soft); cursor: pointer; }
        .picture summary { font-size: 0.8125rem; color: var(--soft); cursor: pointer; margin: 0.3rem 0; }
        .diagram { max-width: none; height: auto; font: 14px/1 system-ui, sans-serif; }
        .diagram text { fill: var(--text); text-anchor: middle; }
        .diagram .node rect, .diagram .node polygon, .diagram .node path { fill: var(--accent-soft); stroke: var(--accent);
          stroke-width: 1.25; }
        .diagram .node .rim { fill: none; }
        .diagram .dot { fill: var(--text); }
        .diagram .ring { fill: none; stroke: var(--text); stroke-width: 1.5; }
        .diagram .group rect { fill: none; stroke: var(--line); stroke-dasharray: 5 4; }
        .diagram .group text { text-anchor: start; fill: var(--soft); font-weight: 600; }
        .diagram .line { fill: none; stroke: var(--soft); stroke-width: 1.5; }
        .diagram .dotted { stroke-dasharray: 2 4; }
        .diagram .head { fill: var(--soft); }
        .diagram .back { fill: var(--back); }
        .diagram .edge text { font-size: 13px; fill: var(--soft); }
        .table { overflow-x: auto; margin: 0 0 1rem; }
        table { border-collapse: collapse; width: 100%; margin: 0; font-size: 0.9375rem; line-height: 1.5; }
        th, td { text-align: left; vertical-align: top; padding: 0.45rem 0.75rem 0.45rem 0; border-bottom: 1px solid var(--line); }
        th { font-size: 0.8125rem; color: var(--soft); font-weight: 600; }
        td { min-width: 6rem; }
        td code { overflow-wrap: break-word; }
        main > .table.many { max-width: none; }
        .many table { font-size: 0.875rem; }
        .many td { min-width: 4.5rem; }
        .many td:first-child { position: sticky; left: 0; background: var(--back); }
        dt { margin-top: 0.75rem; padding-top: 0.75rem; border-top: 1px solid var(--line); scroll-margin-top: 5rem; }
        dl > dt:first-child { margin-top: 0; }
        dd { margin: 0.1rem 0 0; }
        dt code { font-weight: 600; background: none; padding: 0; font-size: 0.9375rem; }
        dt .sign { color: var(--soft); font-size: 0.8125rem; margin-left: 0.35rem; overflow-wrap: anywhere; }
        dt .sign code { font-size: 0.8125rem; font-weight: 400; }
        dt .need { color: var(--accent); font-size: 0.8125rem; margin-left: 0.35rem; }
        dl.terms dt { font-weight: 600; }
        .tabs { display: flex; flex-wrap: wrap; gap: 0.1rem 0.25rem; border-bottom: 1px solid var(--line); margin: 0 0 0.75rem; }
        .tabs button { font: inherit; font-size: 0.9375rem; color: var(--soft); background: none; border: 0; padding: 0.35rem 0.6rem;
          border-bottom: 2px solid transparent; margin-bottom: -1px; cursor: pointer; }
        .tabs button[aria-selected=true] { color: var(--accent); border-color: var(--accent); font-weight: 600; }
        .tabbed > section > h3 { display: none; }
        .calls { min-width: 0; }
        .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); gap: 0.75rem; padding: 0;
          list-style: none; max-width: none; }
        .cards li { margin: 0; }
        .cards a { display: block; height: 100%; padding: 0.7rem 0.9rem; border: 1px solid var(--line); border-radius: 10px;
          text-decoration: none; color: inherit; }
        .cards a:hover { border-color: var(--accent); background: var(--accent-soft); }
        .cards b { display: block; color: var(--accent); }
        .cards span { font-size: 0.9rem; color: var(--soft); line-height: 1.45; display: block; }
        .pager { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.5rem 2rem; margin-top: 3rem; padding-top: 1rem;
          border-top: 1px solid var(--line); }
        section.entry { border-top: 1px solid var(--line); padding-top: 0.25rem; }
        section.entry h2 { margin-top: 1.1rem; }
        .soft { color: var(--soft); }
        @media (max-width: 40rem) {
          .top { position: static; }
          .search { flex: 1 1 100%; margin: 0; }
          .many td { min-width: 0; }
          .found { right: auto; left: 0; width: 100%; }
          .copy { display: none; }
          html, dt { scroll-padding-top: 1rem; scroll-margin-top: 1rem; }
          table.wide, table.wide tbody, table.wide tr, table.wide td { display: block; }
          table.wide thead { display: none; }
          table.wide tr { border-bottom: 1px solid var(--line); padding: 0.6rem 0; }
          table.wide td { border: 0; padding: 0.1rem 0; }
          table.wide td[data-head]::before { content: attr(data-head); display: block; font-size: 0.75rem; color: var(--soft);
            font-weight: 600; }
          table.wide td:empty { display: none; }
          table.wide td:first-child { position: static; font-weight: 600; }
        }
        @media (min-width: 60rem) {
          .layout { flex-direction: row; align-items: flex-start; }
          .side { order: -1; flex: 0 0 16.5rem; position: sticky; top: 3.4rem; max-height: calc(100vh - 3.4rem); overflow-y: auto;
            border-top: 0; border-right: 1px solid var(--line); }
          main { padding: 1.75rem 2.5rem 4rem; }
        }
        @media print { .top, .side, .pager, .copy { display: none; } }

        """

    static let script = """
        "use strict";
        (() => {
          const script = document.currentScript;
          const root = script.src.slice(0, script.src.lastIndexOf("/") + 1);
          const element = (name, attributes, ...children) => {
            const made = document.createElement(name);
            for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
            made.append(...children);
            return made;
          };

          // The index is a script, because pages from file:// cannot fetch files. It is loaded with the first search.
          let loading;
          const index = () => loading ||= new Promise((resolve) => {
            const loader = element("script", { src: root + "search-index.js" });
            loader.onload = () => resolve(window.mintmarkIndex.map(([kind, title, place, text]) => (
              { kind, title, place, text, lowTitle: title.toLowerCase(), low: text.toLowerCase() })));
            document.head.append(loader);
          });

          const score = (entry, words, whole) => {
            let sum = entry.lowTitle === whole ? 100 : entry.lowTitle.startsWith(whole) ? 40 : 0;
            if (words.length > 1 && entry.low.includes(whole)) sum += 5;
            for (const word of words) {
              const inTitle = entry.lowTitle.includes(word);
              if (!inTitle && !entry.low.includes(word)) return 0;
              sum += inTitle ? 10 : 1;
            }
            return sum;
          };

          const marked = (text, words) => {
            const low = text.toLowerCase();
            const parts = [];
            let at = 0;
            while (at < text.length) {
              let best = -1, length = 0;
              for (const word of words) {
                const found = low.indexOf(word, at);
                if (found >= 0 && (best < 0 || found < best)) [best, length] = [found, word.length];
              }
              if (best < 0) break;
              parts.push(text.slice(at, best), element("mark", {}, text.slice(best, best + length)));
              at = best + length;
            }
            return [...parts, text.slice(at)];
          };

          const excerpt = (entry, words) => {
            const first = Math.max(0, Math.min(...words.map((word) => entry.low.indexOf(word)).filter((at) => at >= 0).concat(1e9)));
            const start = first > 1e8 ? 0 : entry.text.lastIndexOf(" ", Math.max(0, first - 50)) + 1;
            const text = entry.text.slice(start, start + 150);
            return (start > 0 ? "… " : "") + text + (start + 150 < entry.text.length ? " …" : "");
          };

          const place = document.querySelector(".search");
          if (place) {
            const input = element("input", { type: "search", placeholder: "Search (press /)", "aria-label": "Search the documentation" });
            const found = element("div", { class: "found", hidden: "" });
            place.append(input, found);
            const show = async () => {
              const whole = input.value.trim().toLowerCase();
              const words = whole.split(/\\s+/).filter(Boolean);
              if (!words.length) { found.hidden = true; return; }
              const entries = await index();
              if (input.value.trim().toLowerCase() !== whole) return;
              const best = entries.map((entry) => [score(entry, words, whole), entry]).filter(([points]) => points > 0)
                .sort((a, b) => b[0] - a[0] || a[1].title.length - b[1].title.length).slice(0, 30);
              found.replaceChildren(...best.map(([, entry]) => element("a", { href: root + entry.place },
                element("small", {}, entry.kind), element("b", {}, ...marked(entry.title, words)),
                element("span", {}, ...marked(excerpt(entry, words), words)))));
              if (!best.length) found.append(element("p", {}, "No page contains all of these words."));
              found.hidden = false;
            };
            input.addEventListener("input", show);
            input.addEventListener("focus", () => { index(); show(); });
            document.addEventListener("click", (event) => { if (!place.contains(event.target)) found.hidden = true; });
            document.addEventListener("keydown", (event) => {
              if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
                event.preventDefault();
                input.focus();
              } else if (event.key === "Escape" && place.contains(document.activeElement)) {
                found.hidden = true;
                input.blur();
              } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && place.contains(document.activeElement)) {
                const all = [input, ...found.querySelectorAll("a")];
                const next = all[all.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
                if (next) { event.preventDefault(); next.focus(); }
              } else if (event.key === "Enter" && document.activeElement === input) {
                event.preventDefault();
                found.querySelector("a")?.click();
              }
            });
            const asked = new URLSearchParams(location.search).get("q");
            if (asked) { input.value = asked; show(); }
          }

          // The calls in all languages are sections below each other; here they become tabs, and the choice is kept.
          const kept = () => { try { return localStorage.getItem("mintmark-language"); } catch { return null; } };
          const choosers = [];
          for (const calls of document.querySelectorAll(".calls")) {
            const sections = [...calls.children];
            const bar = element("div", { class: "tabs", role: "tablist" });
            const buttons = sections.map((section) => element("button", { type: "button", role: "tab" }, section.dataset.name));
            const choose = (name) => {
              if (!sections.some((section) => section.dataset.name === name)) return;
              sections.forEach((section, at) => {
                section.hidden = section.dataset.name !== name;
                buttons[at].setAttribute("aria-selected", String(!section.hidden));
                buttons[at].tabIndex = section.hidden ? -1 : 0;
              });
            };
            choosers.push(choose);
            const take = (at) => {
              choosers.forEach((each) => each(sections[at].dataset.name));
              try { localStorage.setItem("mintmark-language", sections[at].dataset.name); } catch {}
            };
            sections.forEach((section) => section.setAttribute("role", "tabpanel"));
            buttons.forEach((button, at) => {
              button.addEventListener("click", () => take(at));
              button.addEventListener("keydown", (event) => {
                const last = sections.length - 1;
                const next = { ArrowRight: at < last ? at + 1 : 0, ArrowLeft: at > 0 ? at - 1 : last, Home: 0, End: last }[event.key];
                if (next === undefined) return;
                event.preventDefault();
                take(next);
                buttons[next].focus();
              });
            });
            bar.append(...buttons);
            calls.before(bar);
            calls.classList.add("tabbed");
            choose(sections[0].dataset.name);
            choose(kept());
          }

          const here = document.querySelector(".side a[aria-current]");
          const side = here?.closest(".side");
          if (side && side.scrollHeight > side.clientHeight) side.scrollTop = here.offsetTop - side.offsetTop - side.clientHeight / 3;

          if (navigator.clipboard) for (const code of document.querySelectorAll(".code")) {
            const button = element("button", { type: "button", class: "copy" }, "Copy");
            button.addEventListener("click", async () => {
              await navigator.clipboard.writeText(code.querySelector("code").textContent);
              button.textContent = "Copied";
              setTimeout(() => { button.textContent = "Copy"; }, 1500);
            });
            code.append(button);
          }
        })();

        """
}
