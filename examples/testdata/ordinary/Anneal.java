class Anneal {
    public static void main(String[] args) {
        double temperature = 10, cooling = 0.9;
        for (int i = 0; i + 1 < args.length; i += 2) {
            if (args[i].equals("--temperature")) temperature = Double.parseDouble(args[i + 1]);
            if (args[i].equals("--cooling")) cooling = Double.parseDouble(args[i + 1]);
        }
        double cost = Math.abs(Math.log(temperature / 40)) + Math.abs(Math.log((1 - cooling) / 0.02));
        System.out.println("Final cost: " + cost);
    }
}
