package spec

import (
	"reflect"

	"github.com/BurntSushi/toml"

	"github.com/lbotune/lbotune/optimizer"
)

// optimizer reads [optimizer], whose keys are the toml tags of
// optimizer.Settings.
func (t *table) optimizer(s *optimizer.Settings) {
	sub := t.sub("optimizer")
	sub.structure(reflect.ValueOf(s).Elem())
	sub.done()
	for _, p := range s.Validate() {
		sub.at(p.Field, didYouMeanWord(p.Found, p.Allowed), "%s", p.Message)
	}
}

// structure fills a struct from a table by its toml tags.
func (t *table) structure(v reflect.Value) {
	for i := range v.NumField() {
		key := v.Type().Field(i).Tag.Get("toml")
		if key == "" || key == "-" {
			continue
		}
		if raw, ok := t.get(key); ok {
			t.field(key, raw, v.Field(i))
		}
	}
}

// field sets one field; an integer is welcome where a float is wanted.
func (t *table) field(key string, raw any, f reflect.Value) {
	if u, ok := f.Addr().Interface().(toml.Unmarshaler); ok {
		if err := u.UnmarshalTOML(raw); err != nil {
			t.at(key, "", "%v", err)
		}
		return
	}
	switch f.Kind() {
	case reflect.String:
		f.SetString(t.str(key, ""))
	case reflect.Bool:
		f.SetBool(t.boolean(key))
	case reflect.Int, reflect.Int64:
		if n, ok := raw.(int64); ok {
			f.SetInt(n)
			return
		}
		t.wrongType(key, raw, "a whole number")
	case reflect.Float64:
		if x, ok := t.number(key); ok {
			f.SetFloat(x)
		}
	}
}
