package report

import (
	"net"
	"net/http"
)

// guard lets requests through to one of the hosts: those by which the server can be reached
// honestly. Any other comes from a page that has a foreign name lead here. What changes
// something is let through where it is allowed at all; whether this person may is asked
// there.
func guard(inner http.Handler, changes bool, hosts []string) http.Handler {
	honest := map[string]bool{}
	for _, h := range hosts {
		honest[h] = true
	}
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
		origin := r.Header.Get("Origin")
		switch {
		case !honest[r.Host]:
			http.Error(w, "this is not the host that you look for", http.StatusMisdirectedRequest)
		case origin != "" && origin != "http://"+r.Host:
			http.Error(w, "not for other sites", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead && !(changes && r.Method == http.MethodPost):
			h.Set("Allow", allowed)
			http.Error(w, "this server only shows", http.StatusMethodNotAllowed)
		default:
			inner.ServeHTTP(w, r)
		}
	})
}

// Hosts are the names under which a listener is reached honestly, and the address that a
// person opens.
func Hosts(a net.Addr, asked string) (hosts []string, url string) {
	_, port, _ := net.SplitHostPort(a.String())
	hosts = []string{a.String(), net.JoinHostPort(asked, port)}
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		hosts = append(hosts, net.JoinHostPort(name, port))
	}
	return hosts, "http://" + hosts[1] + "/"
}
