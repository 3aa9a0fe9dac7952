fn main() {
    let (mut alpha, mut depth) = (0.5f64, 4i32);
    for arg in std::env::args().skip(1) {
        if let Some(v) = arg.strip_prefix("--alpha=") {
            alpha = v.parse().unwrap();
        } else if let Some(v) = arg.strip_prefix("--depth=") {
            depth = v.parse().unwrap();
        }
    }
    println!("searched 1000 nodes");
    println!("cost: {:.5}", (alpha - 0.8).powi(2) + ((depth - 6) as f64).abs() / 10.0);
}
