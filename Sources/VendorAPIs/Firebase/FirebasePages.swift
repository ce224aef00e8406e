import JSON

/// The pages that the web SDK opens for popup and redirect: the sign-in page in place of an identity provider, and the frame that carries
/// its result to the application.
///
/// The pages read their parameters themselves, so that no parameter of a request becomes part of the HTML.
enum FirebasePages {
    /// The key under which both pages keep the result of a redirect, in the storage of their common origin.
    private static let storage = "mintmark:redirectEvent:"

    private static func page(_ title: String, body: String, script: String) -> WireAnswer {
        let html = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>\(title)</title>
            <style>
            :root { color-scheme: light dark }
            body { font: 16px/1.5 system-ui, sans-serif; max-width: 28rem; margin: 2rem auto; padding: 0 1rem }
            label { display: block; margin: .75rem 0 } input { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem }
            input[type=checkbox] { width: auto } button { font: inherit; padding: .4rem 1rem; margin: .25rem .5rem .25rem 0 }
            li { list-style: none } ul { padding: 0 }
            </style>
            </head>
            <body>
            \(body)
            <script>
            \(script)
            </script>
            </body>
            </html>

            """
        return WireAnswer(
            status: 200,
            headers: [
                ("content-type", "text/html; charset=utf-8"), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
            ], body: html)
    }

    /// The page in place of an identity provider: the user chooses an account or enters a new one.
    ///
    /// - Parameter project: The ID of the project, which contains no characters of HTML.
    static func handler(project: String) -> WireAnswer {
        page(
            "Sign in", body: handlerBody,
            script: "const project = \"\(project)\";\nconst storage = \"\(storage)\";\n" + handlerScript)
    }

    /// The frame of the application.
    static let frame = page("Sign-in frame", body: "", script: "const storage = \"\(storage)\";\n" + frameScript)

    private static let handlerBody = """
        <h1>Sign in at <span id="provider"></span></h1>
        <p>This page is a part of the test endpoint. It takes the place of the identity provider.</p>
        <p id="problem" role="alert" hidden></p>
        <ul id="known"></ul>
        <form id="new">
        <label>Subject <input name="sub" required maxlength="128"></label>
        <label>Email address <input name="email" type="email"></label>
        <label><input name="verified" type="checkbox" checked> The address is verified</label>
        <label>Name <input name="name" maxlength="256"></label>
        <label>URL of a picture <input name="picture" type="url"></label>
        <button type="submit">Sign in</button><button type="button" id="cancel">Cancel</button>
        </form>
        """

    private static let handlerScript = """
        const query = new URLSearchParams(location.search);
        const [apiKey, appName, authType, providerId] = ["apiKey", "appName", "authType", "providerId"].map((name) => query.get(name));
        const form = document.getElementById("new");
        const problem = (text) => {
          const place = document.getElementById("problem");
          place.textContent = text;
          place.hidden = false;
        };
        const event = (more) => ({
          type: authType, eventId: query.get("eventId"), urlResponse: null, sessionId: "unused", postBody: null,
          tenantId: query.get("tid"), error: null, ...more,
        });
        // Gives the event to the frame of the application: at once to a popup's opener, or through the storage after a redirect.
        const deliver = (authEvent) => {
          const storageKey = apiKey + ":" + appName;
          if (/popup/i.test(authType)) {
            let sent = false;
            const frames = window.opener ? window.opener.frames : [];
            for (let index = 0; index < frames.length; index += 1) {
              let other;
              try { other = new URLSearchParams(frames[index].location.search); } catch (error) { continue; }
              if (other.get("apiKey") !== apiKey || other.get("appName") !== appName) continue;
              const message = { data: { storageKey, authEvent }, eventId: String(Math.random()).slice(2), eventType: "sendAuthEvent" };
              frames[index].postMessage(message, location.origin);
              sent = true;
            }
            if (!sent) problem("The page that opened this window has no frame of this endpoint. Close the window and try again.");
            return;
          }
          const target = query.get("redirectUrl");
          if (!/^https?:/i.test(target || "")) return problem("The parameter redirectUrl is missing or is not an HTTP URL.");
          sessionStorage.setItem(storage + storageKey, JSON.stringify(authEvent));
          location.href = target;
        };
        const finish = (claims) => {
          // accounts:createAuthUri gives the application the response in the query of its own page.
          const isDirect = authType === "createAuthUri";
          const target = query.get("redirectUrl");
          if (isDirect && !/^https?:/i.test(target || "")) return problem("The parameter redirectUrl is not an HTTP URL.");
          const response = isDirect ? new URL(target) : new URL(location.pathname, location.origin);
          response.searchParams.set("providerId", providerId);
          response.searchParams.set("id_token", JSON.stringify(claims));
          if (isDirect) location.href = response.href;
          else deliver(event({ urlResponse: response.href }));
        };
        // The users who have already signed in at this provider.
        const list = async () => {
          const tenant = query.get("tid");
          const path = "/identitytoolkit.googleapis.com/v1/projects/" + project + (tenant ? "/tenants/" + encodeURIComponent(tenant) : "");
          const answer = await fetch(path + "/accounts:batchGet?maxResults=500", { headers: { authorization: "Bearer owner" } });
          for (const user of (await answer.json()).users || []) {
            for (const login of user.providerUserInfo || []) {
              if (login.providerId !== providerId) continue;
              const item = document.createElement("li");
              const button = document.createElement("button");
              button.textContent = login.displayName || login.email || login.rawId;
              button.onclick = () => finish({
                sub: login.rawId, email: login.email, email_verified: Boolean(login.email), name: login.displayName,
                picture: login.photoUrl,
              });
              item.append(button);
              document.getElementById("known").append(item);
            }
          }
        };
        document.getElementById("provider").textContent = providerId || "";
        form.sub.value = String(Math.random()).slice(2, 18);
        form.onsubmit = (submitted) => {
          submitted.preventDefault();
          const claims = { sub: form.sub.value };
          if (form.email.value) Object.assign(claims, { email: form.email.value, email_verified: form.verified.checked });
          if (form.name.value) claims.name = form.name.value;
          if (form.picture.value) claims.picture = form.picture.value;
          finish(claims);
        };
        document.getElementById("cancel").onclick = () =>
          deliver(event({ error: { code: "auth/user-cancelled", message: "The user has not granted the permissions." } }));
        if (!apiKey || !appName || !authType || !providerId) {
          form.hidden = true;
          problem("One of the parameters apiKey, appName, authType and providerId is missing.");
        } else {
          list();
        }
        """

    private static let frameScript = """
        const query = new URLSearchParams(location.search);
        const storageKey = query.get("apiKey") + ":" + query.get("appName");
        const none = { type: "unknown", eventId: null, urlResponse: null, sessionId: null, postBody: null, tenantId: null,
          error: { code: "auth/no-auth-event", message: "An internal error has occurred." } };
        let outbox = [];
        let parentFrame = null;
        const flush = () => {
          if (!parentFrame) return;
          const filter = gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER;
          for (const authEvent of outbox) parentFrame.send("authEvent", { type: "authEvent", authEvent }, () => {}, filter);
          outbox = [];
        };
        const send = (authEvent) => {
          outbox.push(authEvent);
          flush();
        };
        window.addEventListener("message", (message) => {
          const given = message.data;
          if (message.origin !== location.origin || !given || given.eventType !== "sendAuthEvent") return;
          if (given.data.storageKey !== storageKey) return;
          send(given.data.authEvent);
          if (message.source) message.source.close();
        });
        const start = () => gapi.load("gapi.iframes", () => {
          parentFrame = gapi.iframes.getContext().getParentIframe();
          const filter = gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER;
          parentFrame.register("webStorageSupport", () => ({ status: "ACK", webStorageSupport: true }), filter);
          const kept = sessionStorage.getItem(storage + storageKey);
          sessionStorage.removeItem(storage + storageKey);
          send(kept ? JSON.parse(kept) : none);
        });
        if (window.gapi) {
          start();
        } else {
          // The application and its frame speak through this script of Google, at the emulator as well.
          window.mintmarkFrameStarts = start;
          const script = document.createElement("script");
          script.src = "https://apis.google.com/js/api.js?onload=mintmarkFrameStarts";
          document.head.append(script);
        }
        """
}
