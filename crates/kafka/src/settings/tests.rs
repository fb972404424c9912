#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

fn resolve(xs: &[&str], env: &[(&str, &str)]) -> Result<ClientSettings, Vec<SettingsError>> {
    let xs: Vec<String> = xs.iter().map(|x| (*x).to_owned()).collect();
    let env = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    ClientSettings::resolve("a:9092, b:9092", &xs, env, &|path| match path.to_str() {
        Some("/run/secret") => Ok("pass word \n\n".to_owned()),
        Some("/run/crlf") => Ok("word\r\n".to_owned()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    })
}

#[test]
fn a_flag_wins_over_the_environment() {
    let settings =
        resolve(&["linger.ms=7"], &[("DWELL_KAFKA_LINGER_MS", "5"), ("DWELL_KAFKA_DEBUG", "broker")]).unwrap();
    assert_eq!(settings.brokers(), "a:9092,b:9092");
    assert_eq!(settings.get("linger.ms"), Some("7"));
    assert_eq!(settings.get("debug"), Some("broker"));
}

#[test]
fn other_variables_are_left_alone() {
    let settings = resolve(&[], &[("DWELL_LEVEL", "5s"), ("PATH", "/bin"), ("KAFKA_ACKS", "0")]).unwrap();
    assert_eq!(settings.masked().count(), 0);
}

#[test]
fn a_file_loses_exactly_one_line_end() {
    let settings = resolve(&[], &[("DWELL_KAFKA_SASL_PASSWORD_FILE", "/run/secret")]).unwrap();
    assert_eq!(settings.get("sasl.password"), Some("pass word \n"));
    let settings = resolve(&[], &[("DWELL_KAFKA_SASL_PASSWORD_FILE", "/run/crlf")]).unwrap();
    assert_eq!(settings.get("sasl.password"), Some("word"));
}

#[test]
fn names_that_the_environment_cannot_spell() {
    let settings = resolve(&[], &[("DWELL_KAFKA_LOG_LEVEL", "7")]).unwrap();
    assert_eq!(settings.get("log_level"), Some("7"));
    let found = EnvProperty::parse("DWELL_KAFKA_SASL_OAUTHBEARER_ASSERTION_FILE").unwrap();
    assert_eq!(found.key, "sasl.oauthbearer.assertion.file");
    let value = found.value("any", "/run/secret".to_owned(), &|_| panic!("not to be read")).unwrap();
    assert_eq!(value, "/run/secret", "the property is the path itself");
}

#[test]
fn a_secret_is_neither_shown_nor_taken_as_an_argument() {
    let settings =
        resolve(&[], &[("DWELL_KAFKA_SASL_PASSWORD", "hunter2"), ("DWELL_KAFKA_SASL_USERNAME", "me")]).unwrap();
    for text in [settings.to_string(), format!("{settings:?}"), format!("{settings:#?}")] {
        assert!(!text.contains("hunter2") && text.contains("sasl.password=***") && text.contains("me"), "{text}");
    }
    for x in [
        "sasl.password=hunter2",
        "ssl.key.pem=hunter2",
        "sasl.password hunter2",
        "sasl.oauthbearer.client.secret=hunter2",
    ] {
        let errors = resolve(&[x], &[]).unwrap_err();
        assert!(!format!("{errors:?}").contains("hunter2"), "{errors:?}");
    }
    let errors = resolve(&["sasl.password=hunter2"], &[]).unwrap_err();
    assert!(errors[0].to_string().contains("DWELL_KAFKA_SASL_PASSWORD_FILE"), "{errors:?}");
    assert!(!property::is_secret_argument("sasl.oauthbearer.token.endpoint.url"), "an address is no secret");
}

#[test]
fn all_mistakes_come_at_once() {
    let env = [
        ("DWELL_KAFKA_GROUP_ID", "mine"),
        ("DWELL_KAFKA_SASL_PASSWORD", "a"),
        ("DWELL_KAFKA_SASL_PASSWORD_FILE", "/run/secret"),
        ("DWELL_KAFKA_SSL_KEY_PASSWORD_FILE", "/nowhere"),
        ("DWELL_KAFKA_NO_SUCH_THING", "1"),
        ("DWELL_KAFKA_", "1"),
    ];
    let errors = resolve(&["acks=0", "linger.ms=soon", "broken", "debug=all", "debug=broker"], &env).unwrap_err();
    let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
    for part in [
        "DWELL_KAFKA_GROUP_ID: group.id is not yours",
        "set the same client property",
        "cannot read /nowhere",
        "no.such.thing",
        "DWELL_KAFKA_: no client property",
        "-X acks: acks is not yours",
        "linger.ms",
        "-X broken: not key=value",
        "-X debug is given twice",
    ] {
        assert!(text.iter().any(|t| t.contains(part)), "{part} is missing in {text:#?}");
    }
    assert_eq!(errors.len(), 9, "{text:#?}");
}

#[test]
fn brokers_are_needed() {
    for brokers in ["", " , ", "a:9092 b:9092", "a\n:9092"] {
        assert!(matches!(ClientSettings::plain(brokers), Err(SettingsError::Brokers { .. })), "{brokers:?}");
    }
}

#[test]
fn what_dwell_rests_on_wins_and_the_user_wins_over_tuning() {
    let settings = resolve(&["linger.ms=7", "reconnect.backoff.ms=80"], &[]).unwrap();
    let config = settings.to_tuned_client_config(Role::Producer, "t", &[("linger.ms", "1"), ("acks", "0")]);
    assert_eq!(config.get("linger.ms"), Some("7"));
    assert_eq!(config.get("reconnect.backoff.ms"), Some("80"));
    assert_eq!(config.get("acks"), Some("all"));
    assert_eq!(config.get("allow.auto.create.topics"), Some("false"));
    for role in [Role::Consumer, Role::Producer, Role::Admin, Role::Side] {
        let config = settings.to_client_config(role, "t");
        assert!(config.create_native_config().is_ok(), "{role:?}");
    }
}

#[test]
fn a_property_that_dwell_would_override_is_refused_to_users() {
    let plain = ClientSettings::plain("a:1").unwrap();
    for role in [Role::Consumer, Role::Producer, Role::Admin, Role::Side] {
        for key in plain.to_client_config(role, "t").config_map().keys() {
            let mut marked = plain.clone();
            marked.properties.insert((*key).to_owned(), "marked".to_owned());
            let survives = marked.to_client_config(role, "t").get(key) == Some("marked");
            assert!(survives || denied::why_denied(key).is_some(), "{key} would be taken and ignored");
        }
    }
    assert!(denied::why_denied("topic.acks").is_some());
}

#[test]
fn a_program_may_set_what_a_user_may_and_secrets_too() {
    let plain = ClientSettings::plain("a:1").unwrap();
    let settings = plain.clone().with_property("sasl.password", "hunter2").unwrap();
    assert!(settings.get("sasl.password") == Some("hunter2") && !settings.to_string().contains("hunter2"));
    assert!(matches!(plain.clone().with_property("acks", "0"), Err(SettingsError::Denied { .. })));
    assert!(matches!(plain.with_property("linger.ms", "soon"), Err(SettingsError::Refused { .. })));
}
