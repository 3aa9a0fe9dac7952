package report

import (
	"cmp"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"
)

// guard lets requests through of those who know the token, to one of the hosts: those by which the
// server can be reached honestly. Any other comes from a page that has a foreign name lead
// here. What changes something is let through where it is allowed at all.
func guard(inner http.Handler, changes bool, token string, hosts []string) http.Handler {
	allowed := "GET, HEAD"
	if changes {
		allowed += ", POST"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy()+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		attend(w)
		origin := r.Header.Get("Origin")
		post := r.Method == http.MethodPost
		switch {
		case !slices.Contains(hosts, strings.ToLower(r.Host)):
			refuse(w, "this is not the host that you look for", http.StatusMisdirectedRequest)
		case origin != "" && origin != "http://"+r.Host:
			refuse(w, "not for other sites", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead && !(changes && post):
			h.Set("Allow", allowed)
			refuse(w, "this server only shows", http.StatusMethodNotAllowed)
		case !post && is(r.URL.Query().Get("token"), token):
			remember(w, r, token)
		case !knows(r, token) && post:
			h.Set("Connection", "close")
			Answer{Error: strange}.send(w, http.StatusUnauthorized)
		case !knows(r, token):
			h.Set("WWW-Authenticate", "Bearer")
			refuse(w, strange, http.StatusUnauthorized)
		default:
			inner.ServeHTTP(w, r)
		}
	})
}

// strange is said to who does not know the token.
const strange = "this needs the token of lbotune serve: open the address that it has printed"

// refuse answers no, and keeps no connection for it.
func refuse(w http.ResponseWriter, why string, code int) {
	w.Header().Set("Connection", "close")
	http.Error(w, why, code)
}

// knows reports whether a request has the token: from a program, or as the cookie of a page, which
// says where it is from if it wants to change something.
func knows(r *http.Request, token string) bool {
	if bearer, has := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); has {
		return is(bearer, token)
	}
	c, err := r.Cookie(cookie(r))
	return err == nil && is(c.Value, token) && (r.Method != http.MethodPost || r.Header.Get("Origin") != "")
}

func is(given, token string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// cookie names the cookie: browsers keep those of all servers of a host together.
func cookie(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	return "lbotune-" + port
}

// remember has the browser keep the token, and come again without it in the address.
func remember(w http.ResponseWriter, r *http.Request, token string) {
	http.SetCookie(w, &http.Cookie{Name: cookie(r), Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	left := r.URL.Query()
	left.Del("token")
	to := "/" + strings.TrimLeft(r.URL.EscapedPath(), "/")
	if len(left) > 0 {
		to += "?" + left.Encode()
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

// Hosts are the names under which a listener is reached honestly, as browsers write them, and the
// address that a person opens.
func Hosts(a net.Addr, asked string) (hosts []string, url string) {
	own, port, _ := net.SplitHostPort(a.String())
	asked = strings.ToLower(cmp.Or(asked, "localhost"))
	for _, name := range []string{own, asked, "localhost", "127.0.0.1", "::1"} {
		host := net.JoinHostPort(name, port)
		if hosts = append(hosts, host); port == "80" {
			hosts = append(hosts, strings.TrimSuffix(host, ":80"))
		}
	}
	return hosts, "http://" + net.JoinHostPort(asked, port) + "/"
}
